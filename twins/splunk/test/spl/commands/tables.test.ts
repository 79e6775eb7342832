import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const search = (input: readonly object[], text: string) => bench.searchRows(input, text);
const rows = async (input: readonly object[], text: string) => (await search(input, text)).rows;

const cells = [
  { day: "2", what: "b", n: 1 },
  { day: "10", what: "a", n: 2 },
  { day: "2", what: "a", n: 3 },
  { day: "2", what: "a", n: 4 },
  { what: "a", n: 5 },
  { day: "2", n: 6 },
];

test("rule 67: xyseries makes columns of values, and a row of each x", async () => {
  const { fields, rows: found } = await search(cells, "xyseries day what n");
  expect(fields).toEqual(["day", "a", "b"]);
  expect(found).toEqual([
    { day: "2", a: 4, b: 1 },
    { day: "10", a: 2 },
  ]);
  expect((await rows([...cells].reverse(), "xyseries day, what, n grouped=t")).map(({ day }) => day)).toEqual(
    ["2", "10"],
  );
});

test("rule 67: xyseries names the columns of several data fields", async () => {
  const input = [{ x: 1, y: "p", a: 1, b: 2 }];
  expect(await rows(input, "xyseries x y a b")).toEqual([{ x: 1, "a: p": 1, "b: p": 2 }]);
  expect(await rows(input, "xyseries sep=- x y a b")).toEqual([{ x: 1, "a-p": 1, "b-p": 2 }]);
  expect(await rows(input, `maketable x y a b format="$VAL$ of $AGG$"`)).toEqual([
    { x: 1, "p of a": 1, "p of b": 2 },
  ]);
});

test("rule 47: a column of xyseries does not become an internal field", async () => {
  expect(await rows([{ x: 1, y: "_p", a: 1 }], "xyseries x y a")).toEqual([{ x: 1, VALUE_p: 1 }]);
});

test("rule 67: untable makes a row of each cell, and undoes xyseries", async () => {
  expect(
    await rows(
      [
        { day: "2", b: 1, a: 4, _span: 60 },
        { day: "3", a: "x" },
      ],
      "untable day what n",
    ),
  ).toEqual([
    { day: "2", what: "b", n: "1" },
    { day: "2", what: "a", n: "4" },
    { day: "3", what: "a", n: "x" },
  ]);
  expect(await rows(cells, "xyseries day what n | untable day what n")).toEqual([
    { day: "2", what: "a", n: 4 },
    { day: "2", what: "b", n: 1 },
    { day: "10", what: "a", n: 2 },
  ]);
  expect(await rows([{ day: 1 }], "untable day what n")).toEqual([]);
  expect(await bench.refusal("| makeresults | untable a b")).toContain("Error in 'untable' command:");
});

const people = [
  { name: "Ada", age: 36, city: "London" },
  { name: "Bob", age: 5 },
];

test("rule 67: transpose makes columns of the first five rows", async () => {
  const { fields, rows: found } = await search(people, "transpose");
  expect(fields).toEqual(["column", "row 1", "row 2"]);
  expect(found).toEqual([
    { column: "name", "row 1": "Ada", "row 2": "Bob" },
    { column: "age", "row 1": "36", "row 2": "5" },
    { column: "city", "row 1": "London" },
  ]);
  const many = Array.from({ length: 7 }, (_, n) => ({ n }));
  expect((await search(many, "transpose")).fields).toHaveLength(6);
  expect((await search(many, "transpose 0")).fields).toHaveLength(8);
  expect((await search(many, "transpose 2")).rows).toEqual([{ column: "n", "row 1": 0, "row 2": 1 }]);
});

test("rule 67: transpose takes the columns' names from a field", async () => {
  const { fields, rows: found } = await search(people, `transpose header_field=name column_name="the field"`);
  expect(fields).toEqual(["the field", "Ada", "Bob"]);
  expect(found[0]).toEqual({ "the field": "age", Ada: "36", Bob: 5 });
});

test("transpose include_empty=f leaves out fields without a value", async () => {
  expect(
    (await rows([{ a: 1, b: "" }], "transpose include_empty=false")).map(({ column }) => column),
  ).toEqual(["a"]);
  expect((await rows([{ a: 1, b: "" }], "transpose")).map(({ column }) => column)).toEqual(["a", "b"]);
});
