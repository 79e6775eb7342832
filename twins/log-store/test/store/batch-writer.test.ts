import { afterEach, beforeEach, expect, test } from "vitest";
import { raw } from "../../sql.ts";
import { Gathering } from "../../store/batch-writer.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { DocumentOutcome, DocumentWrite, LogStore } from "../../store/log-store.ts";

let store: LogStore;
beforeEach(async () => {
  store = await openLogStore();
});
afterEach(() => store.close());

const writes = (count: number, prefix: string): DocumentWrite[] =>
  Array.from({ length: count }, (_, number) => ({
    index: "logs",
    id: `${prefix}${number}`,
    source: '{"a":1}',
  }));

function gathering(count: number): {
  gathering: Gathering<DocumentWrite, DocumentOutcome>;
  groups: number[];
} {
  const groups: number[] = [];
  const made = new Gathering<DocumentWrite, DocumentOutcome>(
    (writer, asked) => {
      groups.push(asked.length);
      if (asked.some(({ id }) => id === "broken0")) throw new Error("no room");
      return writer.writeEach(asked);
    },
    ({ source }) => source.length,
    { count, characters: 1 << 20 },
  );
  return { gathering: made, groups };
}

test("what waits is written together, and everybody has the outcomes of their own once it can be found", async () => {
  const { gathering: made, groups } = gathering(100);
  const answers = await Promise.all(
    ["a", "b", "c", "d"].map(async (prefix, number) => {
      const outcomes = await made.perform(store, writes(number + 1, prefix));
      const { rows } = await store.query(raw(`SELECT count(*) FROM documents WHERE _id LIKE '${prefix}%'`));
      expect(rows).toEqual([[number + 1]]);
      return outcomes.map(({ id }) => id);
    }),
  );
  expect(answers).toEqual([["a0"], ["b0", "b1"], ["c0", "c1", "c2"], ["d0", "d1", "d2", "d3"]]);
  expect(groups).toEqual([10]);
});

test("no more than the limit is written together, and what one asks for is never cut", async () => {
  const { gathering: made, groups } = gathering(3);
  await Promise.all([5, 1, 2, 1].map((count, number) => made.perform(store, writes(count, `${number}-`))));
  expect(groups).toEqual([5, 3, 1]);
});

test("whoever was written together with what failed is told so; the next are not touched by it", async () => {
  const { gathering: made } = gathering(2);
  const settled = await Promise.allSettled(
    ["broken", "with-it", "later"].map((prefix) => made.perform(store, writes(1, prefix))),
  );
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
