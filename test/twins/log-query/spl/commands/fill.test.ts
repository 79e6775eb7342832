import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

test("rule 58: fillnull puts 0 where a value is missing, in all fields unless some are named", async () => {
  expect(await rows([{ a: 1 }, { b: "x" }], "fillnull")).toEqual([
    { a: 1, b: "0" },
    { a: 0, b: "x" },
  ]);
  expect(await rows([{ a: 1 }, { b: "x" }], "fillnull value=none a")).toEqual([
    { a: "1" },
    { a: "none", b: "x" },
  ]);
  expect(await rows([{ a: 1 }], "fillnull b, c value=x")).toEqual([{ a: 1, b: "x", c: "x" }]);
  expect(await rows([{ aa: 1 }, { ab: 2 }, { b: 3 }], "fillnull a*")).toEqual([
    ...[
      { aa: 1, ab: 0 },
      { aa: 0, ab: 2 },
      { aa: 0, ab: 0, b: 3 },
    ],
  ]);
});

test("rule 58: fillnull leaves empty texts alone", async () => {
  expect(await rows([{ a: "" }, { b: 1 }], `fillnull value="" a`)).toEqual([{ a: "" }, { a: "", b: 1 }]);
  expect(await rows([{ a: "" }], "fillnull a")).toEqual([{ a: "" }]);
  expect(await rows([{ a: ["x", "y"] }, { b: 1 }], "fillnull value=z a")).toEqual([
    { a: ["x", "y"] },
    { a: ["z"], b: 1 },
  ]);
});

test("filldown repeats the last value before", async () => {
  const input = [{ b: 1 }, { a: "x", b: 2 }, { c: 3 }, { a: "", b: 4 }, { c: 5 }];
  expect(await rows(input, "filldown a")).toEqual([
    ...[{ b: 1 }, { a: "x", b: 2 }, { a: "x", c: 3 }, { a: "", b: 4 }, { a: "", c: 5 }],
  ]);
  expect((await rows(input, "filldown")).at(-1)).toEqual({ a: "", b: 4, c: 5 });
  expect((await rows(input, "reverse | filldown b*")).map(({ b }) => b)).toEqual([undefined, 4, 4, 2, 1]);
});

test("strcat puts fields and texts together; a missing one is empty unless all are required", async () => {
  const input = [{ a: "x", n: 5 }, { n: 6 }];
  expect(await rows(input, `strcat a "/" n all`)).toEqual([
    { a: "x", n: 5, all: "x/5" },
    { n: 6, all: "/6" },
  ]);
  expect(await rows(input, `strcat allrequired=t a n all`)).toEqual([{ a: "x", n: 5, all: "x5" }, { n: 6 }]);
  expect(await rows(input, `strcat "<" nowhere ">" a`)).toEqual([
    { a: "<>", n: 5 },
    { a: "<>", n: 6 },
  ]);
  expect(await bench.refusal("| makeresults | strcat a")).toContain("Error in 'strcat' command:");
});
