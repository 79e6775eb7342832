/** Results are written in chunks, whatever their form; together they say what a plain writer says. */
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { joinOrStream } from "../../output/chunks.ts";
import { type ResultSet, type Row, toColumns } from "../../output/result-set.ts";
import { writeJsonLines } from "../../output/write-json-lines.ts";
import { type ResultsMode, writeResults } from "../../output/write-results.ts";

const names = ["plain", 'quo"ted', "404", "_raw"];
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", 'a "b"', "\\", "\ud800", "\u0000\n\t", "é😀"),
);
const value = fc.oneof(
  fc.constant(null),
  text,
  fc.double(),
  fc.integer(),
  fc.array(text, { minLength: 1, maxLength: 3 }),
);
const row = fc.tuple(value, value, value, value);

function setOf(rows: readonly Row[], offset = 0): ResultSet {
  const fields = names.map((name) => ({ name, type: "text" as const, multi: false }));
  const columns = toColumns(fields, { time: String, maxLines: 0 });
  return { preview: false, offset, columns, rows, messages: [] };
}

const written = (set: ResultSet, mode: ResultsMode) => [...writeResults(set, mode).chunks];

/** The rows as objects, made the plain way. */
function objectsOf({ columns, rows, offset }: ResultSet) {
  return rows.map((one, index) =>
    Object.fromEntries(
      columns.flatMap((column) => {
        const shown = column.display(one, offset + index);
        return shown === null ? [] : [[column.name, shown]];
      }),
    ),
  );
}

const arraysOf = ({ columns, rows, offset }: ResultSet) =>
  rows.map((one, index) => columns.map((column) => column.display(one, offset + index)));

test("JSON in any form says what its rows show", () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), fc.nat(1000), (rows, offset) => {
      const set = setOf(rows, offset);
      const arrays = arraysOf(set);
      const parsed = (mode: ResultsMode) => JSON.parse(written(set, mode).join(""));
      expect(parsed("json").results).toEqual(objectsOf(set));
      expect(parsed("json_rows").rows).toEqual(arrays);
      expect(parsed("json_cols").columns).toEqual(names.map((_, column) => arrays.map((one) => one[column])));
      const lines = (chunks: Iterable<string>) =>
        [...chunks]
          .join("")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
      expect(lines(writeJsonLines(set)).map(({ result }) => result)).toEqual(objectsOf(set));
      expect(lines(writeJsonLines(set)).map((line) => line.offset)).toEqual(rows.map((_, n) => offset + n));
    }),
    { numRuns: 200 },
  );
});

test("members of a row stand in the order of the columns, whatever they are called", () => {
  expect(written(setOf([["a", "b", "c", "d"]]), "json").join("")).toContain(
    String.raw`"results":[{"plain":"a","quo\"ted":"b","404":"c","_raw":"d"}]`,
  );
});

test("many rows are written in many chunks of few rows, each when it is asked for", () => {
  let shown = 0;
  const many = setOf(Array.from({ length: 50_000 }, (_, n) => [String(n), null, n, "text"]));
  const columns = many.columns.map((column) => ({
    ...column,
    display(one: Row, number: number) {
      shown++;
      return column.display(one, number);
    },
  }));
  for (const mode of ["json", "json_rows", "json_cols", "csv", "xml", "raw"] as const) {
    shown = 0;
    let most = 0;
    let before = 0;
    for (const piece of writeResults({ ...many, columns }, mode).chunks) {
      most = Math.max(most, shown - before);
      before = shown;
      expect(piece.length).toBeLessThan(1 << 20);
    }
    expect(shown).toBeGreaterThanOrEqual(mode === "raw" ? 50_000 : 200_000);
    expect(most).toBeLessThanOrEqual(4096);
  }
});

test("a short body is a text, a long one a stream that nothing is made for before it is read", async () => {
  const few = setOf([["a", null, null, null]]);
  expect(joinOrStream(writeResults(few, "csv").chunks)).toBe(`plain,"quo""ted",404,"_raw"\na,,,\n`);
  const rows = Array.from({ length: 30_000 }, (_, n): Row => [`number ${n}`, n, null, "x".repeat(50)]);
  let made = 0;
  function* counted() {
    for (const piece of writeResults(setOf(rows), "json").chunks) {
      made += piece.length;
      yield piece;
    }
  }
  const body = joinOrStream(counted());
  if (!(body instanceof Readable)) throw new Error("the body is a text");
  const begun = made;
  expect(begun).toBeLessThan(2 << 20);
  expect(JSON.parse(await textOf(body)).results).toHaveLength(30_000);
  expect(made).toBeGreaterThan(2 * begun);
});
