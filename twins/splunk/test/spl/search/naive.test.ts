/** Compiled searches find what a naive evaluator finds, among indexed and not yet indexed events. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ingest } from "@offhook/log-store/ingest/ingest";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";
import { type Event, matches, type Search } from "./naive.ts";

const words = [
  "err",
  "Error",
  "ERR",
  "a.b",
  "x-y",
  "10.1.2.3",
  "err_x",
  "ü",
  "foo",
  "Ski",
  "bar",
  "u17",
  "a%20b",
  "--",
];
const word = fc.constantFrom(...words);
const text = fc
  .array(word, { minLength: 1, maxLength: 3 })
  .chain((parts) =>
    fc.constantFrom(" ", "/", "\t", "", '"', "\\", "<").map((between) => parts.join(between)),
  );
const event = fc.record(
  {
    a: text,
    b: word,
    n: fc.integer({ min: -3, max: 12 }),
    tags: fc.array(word, { minLength: 2, maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const pattern = fc.oneof(
  word,
  text,
  word.map((one) => `${one}*`),
  word.map((one) => `*${one}`),
  fc.tuple(word, word).map(([one, other]) => `${one}*${other}`),
  fc.constantFrom("5", "-1", "1*", "*", "", "e", "rr"),
);
const term = fc.record({
  kind: fc.constant("term" as const),
  text: pattern.filter((one) => !/["\\()]/.test(one) && one !== ""),
  mode: fc.constantFrom("" as const, "" as const, "CASE" as const, "TERM" as const),
});
const field = fc.constantFrom("a", "b", "n", "tags", "missing");
const compare = fc.record({
  kind: fc.constant("compare" as const),
  field,
  comparator: fc.constantFrom("=" as const, "=" as const, "!=" as const, "<" as const, ">=" as const),
  text: pattern,
});
const among = fc.record({
  kind: fc.constant("in" as const),
  field,
  texts: fc.array(pattern, { minLength: 1, maxLength: 25 }),
});
const { search } = fc.letrec<{ search: Search }>((tie) => ({
  search: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(term, compare, among),
    fc.record({ kind: fc.constant("not" as const), operand: tie("search") }),
    fc.record({
      kind: fc.constantFrom("and" as const, "or" as const),
      operands: fc.array(tie("search"), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

const quote = (value: string) => `"${value.replace(/["\\]/g, "\\$&")}"`;

function textOf(expression: Search): string {
  switch (expression.kind) {
    case "and":
    case "or":
      return `(${expression.operands.map(textOf).join(expression.kind === "or" ? " OR " : " ")})`;
    case "not":
      return `NOT ${textOf(expression.operand)}`;
    case "term":
      return expression.mode === ""
        ? quote(expression.text)
        : `${expression.mode}(${quote(expression.text)})`;
    case "compare":
      return `${expression.field}${expression.comparator}${quote(expression.text)}`;
    case "in":
      return `${expression.field} IN (${expression.texts.map(quote).join(", ")})`;
  }
}

const events: Event[] = fc
  .sample(event, { numRuns: 200, seed: 7 })
  .map((one, id) => ({ id: `id${id}`, ...one }));
const indexed = events.slice(0, 150);
let folder: string;
let bench: SplBench;

async function* lines() {
  yield Buffer.from(indexed.map((one) => JSON.stringify(one)).join("\n"));
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "offhook-naive-"));
  const { file } = await ingest({ bytes: lines(), format: "ndjson" }, folder, undefined, "raw");
  const store = await openLogStore({ baselineFile: file, textIndex: "raw", index: "main" });
  bench = await splBench(events.slice(150), { store });
});
afterAll(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

test("a search finds what a naive evaluator finds", async () => {
  await fc.assert(
    fc.asyncProperty(search, async (expression) => {
      const { rows } = await bench.search(`search ${textOf(expression)} | fields id`);
      const expected = events.filter((one) => matches(expression, one, JSON.stringify(one)));
      expect(rows.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
    }),
    { numRuns: 100 },
  );
});

test("rare words are looked up in the index, others are found by a scan", async () => {
  const rare = await bench.search("search id42 | fields id");
  expect(rare.rows).toEqual([expect.objectContaining({ id: "id42" })]);
  expect(rare.statements.at(-1)).toMatch(/_row = \d+\)/);
  const two = await bench.search("search id42 OR id43 | fields id");
  expect(two.rows).toHaveLength(2);
  expect(two.statements.at(-1)).toContain("list_contains([");
  const value = await bench.search("search id=ID7 b=* | fields id");
  expect(value.rows).toEqual([expect.objectContaining({ id: "id7" })]);
  expect(value.statements.at(-1)).toMatch(/_row = \d+\)/);
  expect((await bench.search("search id* OR n=4 | fields id")).statements.at(-1)).not.toContain(
    "list_contains([",
  );
});

test("hundreds of words are tested as one list, in indexed events and others", async () => {
  const all = [...Array.from({ length: 900 }, (_, n) => `nothing${n}`), "u17", "ERR", "id180", "bar"];
  const written = all.join(" OR ");
  const { rows, statements } = await bench.search(`search ${written} | fields id`);
  const wanted = new Set(["u17", "err", "id180", "bar"]);
  const expected = events.filter((one) =>
    JSON.stringify(one)
      .toLowerCase()
      .replace(/%20/g, " ")
      .split(/[^a-z0-9ü]+/)
      .some((word) => wanted.has(word)),
  );
  expect(rows.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
  expect(statements.at(-1)?.length).toBeLessThan(20_000);
  const later = await bench.search(`search * | search ${written} | fields id`);
  expect(later.rows).toHaveLength(expected.length);
});

test("frequent words are found by the index alone, phrases by their rarer parts", async () => {
  const many = Array.from({ length: 5000 }, (_, id) => ({
    id: `id${id}`,
    text:
      id % 500 === 7 ? "from 10.20.7.9 Error" : id % 2 === 0 ? "from 10.3.7.9 error" : "to 10.20.7.9 errors",
  }));
  async function* all() {
    yield Buffer.from(many.map((one) => JSON.stringify(one)).join("\n"));
  }
  const own = await mkdtemp(path.join(folder, "many-"));
  const { file } = await ingest({ bytes: all(), format: "ndjson" }, own, undefined, "raw");
  const store = await openLogStore({ baselineFile: file, textIndex: "raw", index: "main" });
  const frequent = await splBench([{ id: "late", text: "an error from 10.20.7.9" }], { store });
  const count = async (text: string) => {
    const { rows, statements } = await frequent.search(`search ${text} | stats count`);
    return [rows[0]?.count, /get_bit\(|list_contains\(\[/.test(statements.at(-1) ?? "")];
  };
  try {
    expect(await count("text")).toEqual([5001, true]);
    expect(await count("err*")).toEqual([5001, true]);
    expect(await count("text NOT error")).toEqual([2490, true]);
    expect(await count('text "from 10.20.7.9"')).toEqual([11, true]);
    expect(await count("text CASE(Error)")).toEqual([10, true]);
    expect(await count("late error")).toEqual([1, false]);
    expect(await count("*rro* NOT CASE(error)")).toEqual([2500, true]);
    expect(await count("f*m OR CASE(errors)")).toEqual([5001, true]);
    expect(await count("(id7 OR id8 OR text=nothing) error")).toEqual([2, true]);
  } finally {
    await frequent.close();
  }
});
