import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

test("foreach runs its template for each field", async () => {
  expect(
    await rows([{ a_x: 1, a_y: 2, b: 3, _a: 4 }], "foreach a_* b [eval <<FIELD>>='<<FIELD>>'*10]"),
  ).toEqual([{ a_x: 10, a_y: 20, b: 30, _a: 4 }]);
  expect(await rows([{ a: 1, b: 2 }], "eval total=0 | foreach a, b [eval total=total+<<FIELD>>]")).toEqual([
    { a: 1, b: 2, total: 3 },
  ]);
});

test("foreach substitutes what its wildcards match", async () => {
  expect(await rows([{ a_b_c: 1 }], "foreach a_*_* [eval <<MATCHSEG2>>_<<MATCHSEG1>>='<<FIELD>>']")).toEqual([
    { a_b_c: 1, c_b: 1 },
  ]);
  expect(await rows([{ "request.id": 1 }], "foreach request.* [eval <<MATCHSTR>>='<<FIELD>>']")).toEqual([
    { "request.id": 1, id: 1 },
  ]);
  expect(await rows([{ ab: 1 }], "foreach a* fieldstr=#F matchstr=#M [eval new_#M=#F+1]")).toEqual([
    { ab: 1, new_b: 2 },
  ]);
});

test("foreach takes any streaming commands, and no others", async () => {
  expect(
    await rows(
      [{ a: "x,y", b: "z" }],
      `foreach * [makemv delim="," <<FIELD>> | rename <<FIELD>> as n<<FIELD>>]`,
    ),
  ).toEqual([{ na: ["x", "y"], nb: ["z"] }]);
  expect(await bench.refusal("| makeresults | eval a=1 | foreach a [stats count by <<FIELD>>]")).toBe(
    "Error in 'foreach' command: Search pipeline may not contain non-streaming commands.",
  );
  expect(await bench.refusal("| makeresults | foreach *")).toContain("Error in 'foreach' command:");
});

test("foreach iterates over the values of a field", async () => {
  const input = [{ v: ["1", "2", "3"] }, { v: "5" }, { n: 1 }];
  expect(await rows(input, "eval sum=0 | foreach mode=multivalue v [eval sum=sum+<<ITEM>>]")).toEqual([
    { v: ["1", "2", "3"], sum: 6 },
    { v: ["5"], sum: 5 },
    { n: 1, sum: 0 },
  ]);
  expect(
    await rows(
      [{ v: ["a", "b"] }],
      `foreach mode=multivalue v [eval all=coalesce(all, "").<<ITEM>>."<<ITER>>"]`,
    ),
  ).toEqual([{ v: ["a", "b"], all: "a0b1" }]);
});

test("foreach iterates over the elements of a JSON array", async () => {
  const input = [{ j: `["x", 2, {"id": "i"}]` }, { j: "no array" }, { j: "{}" }];
  expect(
    (await rows(input, `eval n=0, t="" | foreach mode=json_array j itemstr=IT [eval n=n+1, t=t.IT.";"]`)).map(
      ({ n, t }) => [n, t],
    ),
  ).toEqual([
    [3, `x;2;{"id":"i"};`],
    [0, ""],
    [0, ""],
  ]);
});

test("foreach mode=auto_collections sees whether a value is an array or several", async () => {
  const input = [{ v: "[1,2]" }, { v: ["3", "4"] }, { v: "5" }];
  expect(
    (await rows(input, "eval s=0 | foreach mode=auto_collections v [eval s=s+<<ITEM>>]")).map(({ s }) => s),
  ).toEqual([3, 7, 5]);
});

test("foreach over elements takes exactly one eval", async () => {
  expect(
    await bench.refusal(`| makeresults | eval v="a" | foreach mode=multivalue v [eval a=1 | eval b=2]`),
  ).toContain("Error in 'foreach' command: A single eval command");
  expect(
    await bench.refusal(`| makeresults | eval v="a" | foreach mode=multivalue v [where v="a"]`),
  ).toContain("Error in 'foreach' command:");
});

test("foreach iterates over more elements than fit into one statement", async () => {
  const list = JSON.stringify(Array.from({ length: 260 }, (_, n) => n + 1));
  const text =
    "eval total=0 | foreach mode=json_array list [eval total=total+<<ITEM>>, last=<<ITER>>] | fields - list";
  expect(
    await rows(
      [
        { n: 1, list },
        { n: 2, list: "[5,6]" },
      ],
      text,
    ),
  ).toEqual([
    { n: 1, total: 33_930, last: 259 },
    { n: 2, total: 11, last: 1 },
  ]);
});
