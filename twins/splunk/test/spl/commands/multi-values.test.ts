import type { ResultValue } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

test("rule 62: makemv splits at a text, and leaves empty pieces out unless they are allowed", async () => {
  expect(await rows([{ a: "x,y,,z" }], `makemv delim="," a`)).toEqual([{ a: ["x", "y", "z"] }]);
  expect(await rows([{ a: "x,y,,z" }], `makemv a allowempty=t delim=","`)).toEqual([
    { a: ["x", "y", "", "z"] },
  ]);
  expect(await rows([{ a: "x y" }, { b: 1 }], "makemv a")).toEqual([{ a: ["x", "y"] }, { b: 1 }]);
  expect(await rows([{ a: "x::y" }], "makemv delim=:: setsv=t a")).toEqual([{ a: ["x", "y"] }]);
  expect(await rows([{ a: "," }], "makemv delim=, a")).toEqual([{}]);
});

test("rule 62: makemv takes the first group of each match of a tokenizer", async () => {
  expect(await rows([{ a: "one,two,three" }], `makemv tokenizer="([^,]+),?" a`)).toEqual([
    { a: ["one", "two", "three"] },
  ]);
  expect(await bench.refusal(`| makeresults | makemv delim="," tokenizer="(.)" a`)).toContain(
    "Error in 'makemv' command:",
  );
});

test("makemv leaves internal fields alone", async () => {
  expect(await rows([{ _raw: "a b" }], "makemv _raw")).toEqual([{ _raw: "a b" }]);
});

test("rule 62: mvexpand makes a row of each value, copies the other fields, and drops rows without a value", async () => {
  const input = [{ n: 1, a: ["x", "y"] }, { n: 2 }, { n: 3, a: "z" }];
  expect(await rows(input, "mvexpand a")).toEqual([
    { n: 1, a: "x" },
    { n: 1, a: "y" },
    { n: 3, a: "z" },
  ]);
  expect(await rows(input, "reverse | mvexpand a limit=1")).toEqual([
    { n: 3, a: "z" },
    { n: 1, a: "x" },
  ]);
  expect(await rows([{ n: 1, a: "x" }, { n: 2 }], "mvexpand a")).toEqual([{ n: 1, a: "x" }]);
});

test("rule 62: mvexpand of a field that no row has leaves the rows as they are, and says so", async () => {
  const found = await bench.searchRows([{ n: 1 }, { n: 2 }], "mvexpand nowhere");
  expect([found.rows, found.messages]).toEqual([
    [{ n: 1 }, { n: 2 }],
    ["Field 'nowhere' does not exist in the data."],
  ]);
  expect(await bench.refusal("| makeresults | mvexpand")).toBe(
    "Error in 'mvexpand' command: A field name is expected.",
  );
});

test("mvexpand of two fields gives each pair", async () => {
  const found = await rows([{ a: [1, 2], b: ["x", "y"] }], "mvexpand a | mvexpand b");
  expect(found.map(({ a, b }) => `${a}${b}`)).toEqual(["1x", "1y", "2x", "2y"]);
});

test("mvexpand says when there is no such field", async () => {
  expect((await bench.searchRows([{ a: 1 }], "mvexpand b")).messages).toEqual([
    "Field 'b' does not exist in the data.",
  ]);
});

test("rule 62: mvcombine merges rows that agree in all other fields, in their order", async () => {
  const input = [{ k: "a", v: 1 }, { k: "b", v: 2 }, { k: "a", v: 3 }, { k: "a" }, { v: 4 }];
  expect(await rows(input, "mvcombine v")).toEqual([{ k: "a", v: [1, 3] }, { k: "b", v: [2] }, { v: [4] }]);
  expect(await rows([{ v: ["x", "y"] }, { v: "z" }], "mvcombine v")).toEqual([{ v: ["x", "y", "z"] }]);
  expect(await rows([], "mvcombine v")).toEqual([]);
});

/** Combines rows that are equal apart from `v`, at the position of the first. */
function combineNaively(rows: readonly Record<string, ResultValue>[]): object[] {
  const groups = new Map<string, { others: object; values: ResultValue[] }>();
  for (const { v = null, ...others } of rows) {
    const key = JSON.stringify(others);
    const group = groups.get(key) ?? { others, values: [] };
    group.values.push(...(Array.isArray(v) ? v : v === null ? [] : [v]));
    groups.set(key, group);
  }
  return [...groups.values()].map(({ others, values }) =>
    values.length === 0 ? others : { ...others, v: values },
  );
}

test.each(["v", "w"])(
  "rule 62: mvcombine of whole events finds those that agree, like the naive one: %s",
  async (lists) => {
    const texts = ["same", "same", "same", "other", "third"];
    const events = Array.from({ length: 240 }, (_, n) => ({
      "@timestamp": new Date(Date.UTC(2026, 0, 1) + (n % 3) * 1000).toISOString(),
      _raw: n % 40 === 39 ? `only ${n}` : texts[n % 5],
      k: `k${(n * 7) % 3}`,
      ...(n % 11 === 0 ? {} : { v: lists === "v" ? [n % 9, n % 4] : n % 9 }),
    }));
    const many = await splBench(events);
    try {
      for (const before of [
        "",
        "| fields k v",
        "| fields k v | fields - _*",
        "| reverse | accum v AS k",
        "| head 100",
      ]) {
        const plain = await many.search(`search index=main ${before}`);
        const found = await many.search(`search index=main ${before} | mvcombine v`);
        expect(found.rows, before).toEqual(combineNaively(plain.rows));
      }
      const counted = await many.search(
        'search index=main | mvcombine v | where k="k1" | stats count sum(v) AS sum',
      );
      expect(counted.rows[0]?.count).toBe(
        combineNaively((await many.search('search index=main k="k1"')).rows).length,
      );
    } finally {
      await many.close();
    }
  },
);

test("rule 62: nomv joins the values by line feeds, or by what mvcombine says", async () => {
  expect(await rows([{ v: ["x", "y"] }], "nomv v")).toEqual([{ v: "x\ny" }]);
  expect(await rows([{ v: 1 }, { v: 2 }], `mvcombine delim="," v | nomv v`)).toEqual([{ v: "1,2" }]);
  expect(await rows([{ v: 1 }], "nomv v | nomv nowhere")).toEqual([{ v: 1 }]);
});
