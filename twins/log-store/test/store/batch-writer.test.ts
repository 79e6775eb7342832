import { afterEach, beforeEach, expect, test } from "vitest";
import { raw } from "../../sql.ts";
import { BatchWriter } from "../../store/batch-writer.ts";
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

function batchWriter(count: number): {
  writer: BatchWriter<DocumentWrite, DocumentOutcome>;
  groups: number[];
} {
  const groups: number[] = [];
  const made = new BatchWriter<DocumentWrite, DocumentOutcome>(
    (writer, asked) => {
      groups.push(asked.length);
      if (asked.some(({ id }) => id === "broken0")) throw new Error("no room");
      return writer.writeEach(asked);
    },
    ({ source }) => source.length,
    { count, characters: 1 << 20 },
  );
  return { writer: made, groups };
}

test("waiting requests are written together, and each caller gets its own outcomes once they are searchable", async () => {
  const { writer: made, groups } = batchWriter(100);
  const answers = await Promise.all(
    ["a", "b", "c", "d"].map(async (prefix, number) => {
      const outcomes = await made.write(store, writes(number + 1, prefix));
      const { rows } = await store.query(raw(`SELECT count(*) FROM documents WHERE _id LIKE '${prefix}%'`));
      expect(rows).toEqual([[number + 1]]);
      return outcomes.map(({ id }) => id);
    }),
  );
  expect(answers).toEqual([["a0"], ["b0", "b1"], ["c0", "c1", "c2"], ["d0", "d1", "d2", "d3"]]);
  expect(groups).toEqual([10]);
});

test("a group stays within the limit, and one caller's requests are never split", async () => {
  const { writer: made, groups } = batchWriter(3);
  await Promise.all([5, 1, 2, 1].map((count, number) => made.write(store, writes(count, `${number}-`))));
  expect(groups).toEqual([5, 3, 1]);
});

test("a failed group fails for all its callers, and not for the next group", async () => {
  const { writer: made } = batchWriter(2);
  const settled = await Promise.allSettled(
    ["broken", "with-it", "later"].map((prefix) => made.write(store, writes(1, prefix))),
  );
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
