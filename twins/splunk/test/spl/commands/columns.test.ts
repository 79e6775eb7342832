import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const columns = async (input: readonly object[], text: string) =>
  (await bench.searchRows(input, text)).fields;
const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

const event = { _time: 1, _raw: "r", b: 1, a: 2, ab_count: 3, _other: 4 };

test("rule 56: fields keeps what it names, and _time and _raw beside it", async () => {
  expect(await columns([event], "fields a, b")).toEqual(["a", "b", "_time", "_raw"]);
  expect(await columns([event], "fields + a nowhere")).toEqual(["a", "_time", "_raw"]);
  expect(await columns([event], "fields _raw a")).toEqual(["_raw", "a", "_time"]);
});

test("rule 56: fields - takes out what it names, _time and _raw by name alone", async () => {
  expect(await columns([event], "fields - a b")).toEqual(["_time", "_raw", "ab_count", "_other"]);
  expect(await columns([event], "fields - *")).toEqual(["_time", "_raw", "_other"]);
  expect(await columns([event], "fields - _*")).toEqual(["b", "a", "ab_count"]);
});

test("rule 56: table keeps only what it names, in that order; a field that no row has is an empty column", async () => {
  expect(await columns([event], "table b nowhere a")).toEqual(["b", "nowhere", "a"]);
  expect(await rows([event], "table b, nowhere, a")).toEqual([{ b: 1, a: 2 }]);
  expect(await columns([event], "table a b a")).toEqual(["a", "b"]);
});

test("rule 56: a table of fields that are not there has no rows, and says so", async () => {
  for (const text of ["table nowhere", "table z*"]) {
    const found = await bench.searchRows([event], text);
    expect([found.rows, found.messages]).toEqual([[], ["No matching fields exist."]]);
  }
  // A declared field exists even without values.
  expect(await rows([{ g: "x" }], "convert num(g) AS n | table n")).toEqual([{}]);
});

test("rule 70: a wildcard leaves internal fields out unless it begins with _", async () => {
  expect(await columns([event], "table *")).toEqual(["b", "a", "ab_count"]);
  expect(await columns([event], "table a* _t*")).toEqual(["a", "ab_count", "_time"]);
  expect(await columns([event], "fields *_c*t")).toEqual(["ab_count", "_time", "_raw"]);
});

test("rule 56: a sign of fields needs no blank behind it, and is part of a name in quotes", async () => {
  expect(await columns([event], "fields -a b")).toEqual(await columns([event], "fields - a b"));
  expect(await columns([event], 'fields -"a", b')).toEqual(await columns([event], "fields - a b"));
  expect(await columns([event], "fields +a, b")).toEqual(["a", "b", "_time", "_raw"]);
  for (const list of ["-a -b", "- a -b", "-a,-b", "-a, - b", "- a +b"]) {
    expect(await columns([event], `fields ${list}`), list).toEqual(await columns([event], "fields - a b"));
  }
  expect(await columns([event], "fields +a +b")).toEqual(["a", "b", "_time", "_raw"]);
  expect(await columns([{ a: 1, b: 2, "-b": 3 }], 'fields -a "-b"')).toEqual(["b"]);
  expect(await columns([{ a: 1, "-a": 2 }], 'fields "-a"')).toEqual(["-a"]);
});

test("rename takes AS, TO and ->", async () => {
  expect(await rows([{ a: 1, b: 2, c: 3 }], 'rename a TO x, b -> "y z" c as z')).toEqual([
    { x: 1, "y z": 2, z: 3 },
  ]);
  expect(await bench.refusal("| head 1 | rename a - > b")).toContain("Usage: rename");
});

test("rule 57: rename takes the place of a field that has the new name", async () => {
  expect(await rows([{ a: 1, b: 2, c: 3 }], "rename a as b")).toEqual([{ b: 1, c: 3 }]);
  expect(await columns([{ a: 1, b: 2, c: 3 }], "rename c AS b")).toEqual(["a", "b"]);
});

test("rule 57: renaming a field that no row has removes the one that has the new name", async () => {
  expect(await rows([{ a: 1, b: 2 }], "rename nowhere as b")).toEqual([{ a: 1 }]);
  expect(await rows([{ a: 1, b: 2 }], "rename nowhere as other")).toEqual([{ a: 1, b: 2 }]);
});

test("rule 57: renamings run from left to right, with commas or blanks between them", async () => {
  expect(await rows([{ a: 1, b: 2 }], "rename a as c, b as d")).toEqual([{ c: 1, d: 2 }]);
  expect(await rows([{ a: 1, b: 2 }], "rename a as c b as a")).toEqual([{ c: 1, a: 2 }]);
  expect(await rows([{ a: 1 }], "rename a as b, b as c")).toEqual([{ c: 1 }]);
});

test("rule 57: a comma may end the renamings", async () => {
  expect((await bench.searchRows([{ a: 1 }], "rename a as b,")).rows).toEqual([{ b: 1 }]);
});

test("rule 57: rename takes names in quotes", async () => {
  expect(await rows([{ "x y": 1, "avg(z)": 2 }], `rename "x y" as z, avg(z) AS "the mean"`)).toEqual([
    { z: 1, "the mean": 2 },
  ]);
});

test("rule 57: wildcards on both sides carry over what they stand for", async () => {
  const input = [{ EU_UK: 1, EU_DE: 2, other: 3, _EU_x: 4 }];
  expect(await rows(input, "rename EU_* as EMEA-*")).toEqual([
    { "EMEA-UK": 1, "EMEA-DE": 2, other: 3, _EU_x: 4 },
  ]);
  expect(await rows([{ a_b_c: 1 }], "rename *_b_* as *-*")).toEqual([{ "a-c": 1 }]);
  expect(await bench.refusal("| head 1 | rename a* as b")).toContain(
    "Error in 'rename' command: Wildcard mismatch",
  );
});

test("names that differ in their case alone are different fields", async () => {
  expect(await rows([{ User: "a", user: "b" }], "rename User as USER | table USER user")).toEqual([
    { USER: "a", user: "b" },
  ]);
});

test("rename without a new name is refused", async () => {
  expect(await bench.refusal("| head 1 | rename a")).toContain("Error in 'rename' command:");
  expect(await bench.refusal("| head 1 | table")).toContain("Error in 'table' command:");
  expect(await bench.refusal("| head 1 | fields -")).toContain("Error in 'fields' command:");
});
