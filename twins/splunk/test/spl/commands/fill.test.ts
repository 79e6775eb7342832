import type { ResultValue } from "@offhook/log-store/store/log-store";
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

/** Fills each row's missing fields from the preceding row. */
function fillDownNaively(given: readonly Record<string, ResultValue>[], names: readonly string[]): object[] {
  const last: Record<string, ResultValue> = {};
  return given.map((row) => {
    for (const name of names) last[name] = row[name] ?? last[name] ?? null;
    const found = Object.entries(last).filter(([, value]) => value !== null);
    return { ...row, ...Object.fromEntries(found) };
  });
}

test("filldown of whole events, of some fields or all, fills them as one row after the other does", async () => {
  const fields = ["a", "b", "c", "d", "e", "f"];
  const events = Array.from({ length: 150 }, (_, n) => {
    const values = fields.map((name, index) => {
      const isThere = (n * (index + 3) + index) % (index + 2) === 0;
      return [name, isThere ? [`${name}${n}`, n, [n, n + 1]][index % 3] : null];
    });
    return {
      "@timestamp": new Date(Date.UTC(2026, 0, 1) + (n % 50) * 1000).toISOString(),
      n,
      ...Object.fromEntries(values),
    };
  });
  const many = await splBench([...events, { other: "one" }]);
  try {
    for (const before of [
      "",
      "| reverse",
      "| accum n AS sum | sort 0 sum",
      "| head 90",
      "| where n%7<5 | rename a AS z",
    ]) {
      for (const [asked, names] of [
        ["", [...fields, "z", "n", "other", "sum", "@timestamp", "timestartpos", "timeendpos"]],
        ["b c d e", ["b", "c", "d", "e"]],
        ["f", ["f"]],
      ] as const) {
        const plain = await many.search(`search index=main ${before}`);
        const wanted = fillDownNaively(
          plain.rows,
          names.filter((name) => plain.fields.includes(name)),
        );
        const found = await many.search(`search index=main ${before} | filldown ${asked}`);
        expect(found.rows, `${before} | filldown ${asked}`).toEqual(wanted);
      }
    }
    const plain = fillDownNaively((await many.search("search index=main")).rows, fields) as { a?: string }[];
    const counted = await many.search(
      "search index=main | filldown a b c d e | stats count(a) AS all dc(a) AS different",
    );
    const all = plain.flatMap(({ a }) => a ?? []);
    expect(counted.rows).toEqual([{ all: all.length, different: new Set(all).size }]);
  } finally {
    await many.close();
  }
});

test("filldown computes windows only for fields that some rows lack", async () => {
  const many = await splBench([{ k: 1, always: 2 }, { always: 3 }, { k: 4, always: 5 }]);
  try {
    const { statements } = await many.search("search index=main | filldown always k punct");
    expect(statements.at(-1)?.match(/IGNORE NULLS/g)).toHaveLength(1);
    // `punct` is known to be present in every event.
    expect(statements[0]).not.toContain("punct");
  } finally {
    await many.close();
  }
});
