import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;
const values = async (input: readonly unknown[], text: string) =>
  (
    await rows(
      input.map((x, n) => (x === null ? { n } : { n, x })),
      text,
    )
  ).map(({ x = null }) => x);

test("rule 53: sort compares numbers as numbers, and rows without the field come last both ways", async () => {
  const input = ["10", "9", null, "100", "-1.5"];
  expect(await values(input, "sort 0 x")).toEqual(["-1.5", "9", "10", "100", null]);
  expect(await values(input, "sort 0 -x")).toEqual(["100", "10", "9", "-1.5", null]);
  expect(await values([10, 9, 100], "sort - x")).toEqual([100, 10, 9]);
});

test("rule 53: sort compares IP addresses by their bytes", async () => {
  const input = ["10.0.0.2", "9.255.0.1", "10.0.0.10"];
  expect(await values(input, "sort x")).toEqual(["9.255.0.1", "10.0.0.2", "10.0.0.10"]);
  expect(await values(input, "sort ip(x) desc")).toEqual(["10.0.0.10", "10.0.0.2", "9.255.0.1"]);
});

test("rule 53: other texts are compared by their characters, upper case before lower case", async () => {
  expect(await values(["b", "a", "B", "_", "-", "5", "12abc"], "sort x")).toEqual([
    ...["-", "5", "12abc", "B", "_", "a", "b"],
  ]);
});

test("rule 53: the type of a sort field can be said", async () => {
  expect(await values(["10", "9", "x"], "sort str(x)")).toEqual(["10", "9", "x"]);
  expect(await values(["x", "10", "9"], "sort num(x)")).toEqual(["9", "10", "x"]);
  expect(await values(["x", "10", "9"], "sort auto(x)")).toEqual(["9", "10", "x"]);
  expect(await values([10, 9], "sort str(x)")).toEqual([10, 9]);
});

const pairs = [
  { a: 1, b: 1 },
  { a: 1, b: 2 },
  { a: 2, b: 1 },
  { a: 2, b: 2 },
];
const order = async (text: string) => (await rows(pairs, text)).map(({ a, b }) => `${a}${b}`).join(" ");

test("rule 53: a sign without a blank is for one field, one with a blank for all that follow", async () => {
  expect(await order("sort -a, b")).toBe("21 22 11 12");
  expect(await order("sort - a, b")).toBe("22 21 12 11");
  expect(await order("sort - a +b")).toBe("21 22 11 12");
  expect(await order("sort +a -b")).toBe("12 11 22 21");
  expect(await order(`sort -"a" b`)).toBe("21 22 11 12");
});

test("rule 53: d and desc at the end reverse the result", async () => {
  expect(await order("sort a, b d")).toBe("22 21 12 11");
  expect(await order("sort -a b desc")).toBe("12 11 22 21");
  expect(await rows([{ d: 2 }, { d: 1 }], "sort d")).toEqual([{ d: 1 }, { d: 2 }]);
  expect(await values(["1", null, "2"], "sort x desc")).toEqual([null, "2", "1"]);
});

test("rule 53: sort keeps 10,000 rows unless it is told how many; 0 is all", async () => {
  const many = Array.from({ length: 10_001 }, (_, n) => ({ n }));
  expect(await rows(many, "sort -n")).toHaveLength(10_000);
  expect(await rows(many, "sort 0 -n")).toHaveLength(10_001);
  expect(await rows(many, "sort 2 -n")).toEqual([{ n: 10_000 }, { n: 9_999 }]);
  expect(await rows(many, "sort limit=1 n")).toEqual([{ n: 0 }]);
  expect(await rows(many, "sort - n limit=1")).toHaveLength(1);
});

test("rule 53: rows with equal values stay in the order they were in", async () => {
  expect((await rows(pairs, "sort -b | sort a")).map(({ a, b }) => `${a}${b}`)).toEqual([
    "12",
    "11",
    "22",
    "21",
  ]);
});

test("rule 55: head and tail take 10 rows unless they are told how many; tail gives them from the end", async () => {
  const many = Array.from({ length: 12 }, (_, n) => ({ n }));
  expect(await rows(many, "head")).toHaveLength(10);
  expect((await rows(many, "tail")).map(({ n }) => n)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  expect(await rows(many, "tail 2")).toEqual([{ n: 11 }, { n: 10 }]);
  expect(await rows(many, "head 0")).toEqual([]);
  expect(await rows(many, "head limit=1")).toEqual([{ n: 0 }]);
});

test.each(["bogusarg", '"text"', "-1", "1.5", "(x)"])("head %s is no condition", async (argument) => {
  expect(await bench.refusal(`| makeresults | head ${argument}`)).toContain(
    "Error in 'head' command: The argument must be",
  );
});

test("rule 55: head with an expression stops before the first row for which it is false", async () => {
  const input = [{ x: 1 }, { x: 2 }, { y: 0 }, { x: 3 }, { x: 1 }];
  expect(await rows(input, "head (x<3)")).toEqual([{ x: 1 }, { x: 2 }]);
  expect(await rows(input, "head (x<3) keeplast=true")).toEqual([{ x: 1 }, { x: 2 }, { y: 0 }]);
  expect(await rows(input, "head (x<3) null=true")).toEqual([{ x: 1 }, { x: 2 }, { y: 0 }]);
  expect(await rows(input, "head limit=2 (x<3) null=t keeplast=t")).toEqual([{ x: 1 }, { x: 2 }]);
  expect(await rows(input, "head (nowhere>1) null=t")).toEqual(input);
  expect(await rows(input, "head (nowhere>1)")).toEqual([]);
  expect(await rows(input, "sort x | head (x<3)")).toEqual([{ x: 1 }, { x: 1 }, { x: 2 }]);
});

test("reverse turns the order round, missing values included", async () => {
  expect(await values(["2", null, "1"], "sort x | reverse")).toEqual([null, "2", "1"]);
  expect(await values(["2", null, "1"], "reverse | reverse")).toEqual(["2", null, "1"]);
  expect(await values(["2", null, "1"], "reverse")).toEqual(["1", null, "2"]);
});

const repeated = [
  { n: 1, k: "a" },
  { n: 2, k: "b" },
  { n: 3, k: "b" },
  { n: 4 },
  { n: 5, k: "a" },
  { n: 6, k: "b" },
];
const dedup = async (text: string) => (await rows(repeated, text)).map(({ n }) => n);

test("rows that sort or head dropped stay dropped under any later order", async () => {
  const input = [3, 1, 5, 2, 4];
  expect(await values(input, "sort 3 -x")).toEqual([5, 4, 3]);
  expect(await values(input, "sort 3 -x | reverse")).toEqual([3, 4, 5]);
  expect(await values(input, "sort 3 -x | head 2")).toEqual([5, 4]);
  expect(await values(input, "sort 4 -x | sort 2 x")).toEqual([2, 3]);
  expect(await values(input, "head 4 | sort 0 x | tail 2")).toEqual([5, 3]);
  expect(await values(input, "sort 3 -x | reverse | head 1")).toEqual([3]);
  expect(await values(input, "stats max(x) AS x | reverse | sort 3 x")).toEqual([5]);
});

test("rule 54: dedup keeps the first rows of each combination and drops those without a value", async () => {
  expect(await dedup("dedup k")).toEqual([1, 2]);
  expect(await dedup("dedup 2 k")).toEqual([1, 2, 3, 5]);
  expect(await dedup("reverse | dedup k")).toEqual([6, 5]);
  expect(await dedup("dedup nowhere")).toEqual([]);
  expect(await dedup("dedup k, n")).toEqual([1, 2, 3, 5, 6]);
});

test("rule 54: keepempty keeps rows without a value", async () => {
  expect(await dedup("dedup k keepempty=true")).toEqual([1, 2, 4]);
  expect(await dedup("dedup k, nowhere keepempty=true")).toEqual([1, 2, 3, 4, 5, 6]);
});

test("rule 54: consecutive drops only rows that follow their like", async () => {
  expect(await dedup("dedup k consecutive=true")).toEqual([1, 2, 5, 6]);
  expect(await dedup("dedup 2 k consecutive=t")).toEqual([1, 2, 3, 5, 6]);
  expect(await dedup("dedup k consecutive=t keepempty=t")).toEqual([1, 2, 4, 5, 6]);
});

test("rule 54: keepevents keeps all rows and empties the fields of repeated ones", async () => {
  expect(await rows(repeated, "dedup k keepevents=true")).toEqual([
    ...[{ n: 1, k: "a" }, { n: 2, k: "b" }, { n: 3 }, { n: 4 }, { n: 5 }, { n: 6 }],
  ]);
});

test("rule 54: sortby sorts before", async () => {
  expect(await dedup("dedup k sortby -n")).toEqual([6, 5]);
  expect(await dedup("dedup 1 k sortby k, -num(n)")).toEqual([5, 6]);
});

test("sort and dedup without a field are refused", async () => {
  expect(await bench.refusal("| head 1 | sort")).toContain("Error in 'sort' command:");
  expect(await bench.refusal("| head 1 | dedup 3")).toContain("Error in 'dedup' command:");
  expect(await bench.refusal("| head 1 | dedup 0 k")).toContain("Error in 'dedup' command:");
});

test("sorting, cutting and deduplicating events by their keys alone gives the same rows", async () => {
  const stored = Array.from({ length: 30 }, (_, n) => ({
    n,
    k: `k${n % 4}`,
    m: n % 3 === 0 ? ["x", "y"] : ["z"],
  }));
  const events = await splBench(stored);
  const numbers = async (text: string) => {
    const { rows: found, statements } = await events.search(`search * | ${text} | table n`);
    const byKeys = statements.some((text) => /SEMI JOIN|AS "#row"|JOIN "#found"/.test(text));
    return { found: found.map(({ n }) => n), byKeys };
  };
  const all = stored.map(({ n }) => n);
  expect(await numbers("sort n")).toEqual({ found: all, byKeys: true });
  expect(await numbers("sort k | sort 0 k n | dedup k")).toEqual({ found: [0, 1, 2, 3], byKeys: true });
  expect(await numbers("dedup k sortby n")).toEqual({ found: [0, 1, 2, 3], byKeys: true });
  expect(await numbers("sort n | tail 6000 | head 3")).toEqual({ found: [29, 28, 27], byKeys: true });
  expect(await numbers(`sort nowhere, n | mvexpand m | search m="x" | sort 9000 -n`)).toEqual({
    found: [27, 24, 21, 18, 15, 12, 9, 6, 3, 0],
    byKeys: true,
  });
  expect((await numbers("eval r=random() | sort r")).found).toHaveLength(30);
  await events.close();
});
