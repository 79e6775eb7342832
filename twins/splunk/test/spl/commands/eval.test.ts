import { afterAll, beforeAll, expect, test } from "vitest";
import { benchNowMs, type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

test("rule 14: in eval, double quotes make a text and single quotes a field", async () => {
  const found = await rows([{ "a b": "x", "c.d{}": 5 }], `eval one='a b', two="a b", three='c.d{}'+1`);
  expect(found).toEqual([{ "a b": "x", "c.d{}": 5, one: "x", two: "a b", three: 6 }]);
});

test("rule 19: assigning null removes the field; an evaluation that fails erases it", async () => {
  expect(await rows([{ a: "x", b: 1 }], "eval a=null()")).toEqual([{ b: 1 }]);
  expect(await rows([{ a: "x", b: 1 }], "eval b=a*2, c=1/0, d=nowhere.a")).toEqual([{ a: "x" }]);
});

test("rule 20: a field cannot be assigned a truth value", async () => {
  expect(await bench.refusal("| head 1 | eval a=(1=1)")).toBe(
    "Error in 'EvalCommand': Fields cannot be assigned a boolean result. Instead, try if([bool expr], [expr], [expr]).",
  );
  expect(await rows([{ a: 1 }], `eval a=if(a=1, "yes", "no")`)).toEqual([{ a: "yes" }]);
});

test("rule 31: several assignments run from left to right", async () => {
  expect(await rows([{ x: 1 }], "eval a=1, b=a+1, a=b*10, c=a+b")).toEqual([{ x: 1, a: 20, b: 2, c: 22 }]);
  expect(await rows([{ a: 1, b: 2 }], "eval a=b, b=a")).toEqual([{ a: 2, b: 2 }]);
});

test("a destination in braces is named by values", async () => {
  const found = await rows(
    [{ k: "x", v: 1 }, { k: "y", v: 2, x: 9 }, { v: 3 }],
    "eval {k}=v, sum_{k}_total=v*10",
  );
  expect(found).toEqual([
    { k: "x", v: 1, x: 1, sum_x_total: 10 },
    { k: "y", v: 2, x: 9, y: 2, sum_y_total: 20 },
    { v: 3 },
  ]);
});

test("a destination can be quoted", async () => {
  expect(await rows([{ a: 1 }], `eval "my field"=a+1, 'other.one'=a+2`)).toEqual([
    { a: 1, "my field": 2, "other.one": 3 },
  ]);
});

test("an eval without an expression is refused while it is read", async () => {
  expect(await bench.refusal("| head 1 | eval a")).toContain("Error in 'eval' command");
  expect(await bench.refusal("| head 1 | eval a=")).toContain(
    "Error in 'EvalCommand': The expression is malformed.",
  );
});

test("rule 16, rule 17: where compares with case, and keeps rows only on true", async () => {
  const input = [{ x: "a", n: 1 }, { x: "A", n: 2 }, { n: 3 }];
  expect(await rows(input, `where x="a"`)).toEqual([{ x: "a", n: 1 }]);
  expect(await rows(input, `where x!="a"`)).toEqual([{ x: "A", n: 2 }]);
  expect(await rows(input, `where NOT x="a"`)).toEqual([{ x: "A", n: 2 }]);
  expect(await rows(input, `where NOT (x="a" AND n>5)`)).toEqual(input.slice(0, 2).concat(input.slice(2)));
});

test("rule 9: where compares two fields", async () => {
  expect(
    await rows(
      [
        { a: "x", b: "x" },
        { a: "b", b: "y" },
      ],
      "where a=b",
    ),
  ).toEqual([{ a: "x", b: "x" }]);
});

test("where takes nothing but a truth value", async () => {
  expect(await bench.refusal("| head 1 | where 1+1")).toContain("Error in 'where' command:");
});

test("operators check types that can be seen before the search runs", async () => {
  const failing: [string, string][] = [
    [`"1"+1`, "Type checking failed. '+' only takes two strings or two numbers."],
    [`"a"*"b"`, "Type checking failed. '*' only takes numbers."],
    [`"x".null()`, "Type checking failed. The '.' operator only takes strings and numbers."],
    [`if(null()=="","y","n")`, "Type checking failed. The '==' operator received different types."],
    [`if(a.b>=10,"y","n")`, "Type checking failed. The '>=' operator received different types."],
    [`upper(null())`, "The arguments to the 'upper' function are invalid."],
  ];
  for (const [expression, message] of failing.slice(0, 5)) {
    await expect(bench.searchRows([{ a: 1, b: 2 }], `eval v=${expression}`)).rejects.toThrow(
      `Error in 'EvalCommand': ${message}`,
    );
  }
});

test("rule 21: a text that the search writes makes + put together", async () => {
  expect(await rows([{ a: 1, b: "1" }], `eval c=a+"2", d=b+1, e="x"+b, a=null(), b=null()`)).toEqual([
    { c: "12", d: 2, e: "x1" },
  ]);
});

test("rule 24: whole numbers are written without a fraction, others in as many digits as their operands have", async () => {
  const found = await rows(
    [{ a: 6, b: "4" }],
    `eval c=a/2."", d=(a/b)."", e=(1/3)."", f=pow(2,60)."", g=(0.1+0.2)."", h=exp(1000)."", i=exact(a/b), j=sigfig(1.00*1111)`,
  );
  expect(found).toEqual([
    {
      a: 6,
      b: "4",
      c: "3",
      d: "1.5",
      e: "0.3333333333333333",
      f: "1152921504606846976",
      g: "0.3",
      h: "inf",
      i: 1.5,
      j: 1110,
    },
  ]);
});

test("rule 24: a result is as exact as the least exact of what it is computed from", async () => {
  const computed = `eval a=8.250*0.2, b=8.250*0.20, c=8.250*0.200, d=8.250*exact(0.2), e=1.00*1111, f=2.1000*1024, g=0.1+0.2, h=x*0.5, i=x/y, j=n/3, k=10/4, l=y*2`;
  expect(await rows([{ x: "2.53", y: "0.70", n: 10 }], computed)).toEqual([
    {
      ...{ x: "2.53", y: "0.70", n: 10 },
      // Examples of the reference, then consequences of its rule.
      ...{ a: "2", b: "1.7", c: "1.65", d: "1.650", e: "1111", f: "2150.4", g: "0.3" },
      ...{ h: 1, i: 3.6, j: 3.3333333333333335, k: 2.5, l: 1.4 },
    },
  ]);
  const powers = `eval a=pow(2.5,2), b=pow(2,0.5), c=pow(x,2), d=pow(n,3), e=exact(pow(2,0.5)), f=round(pow(2.5,2),2), g=pow(2,-1)`;
  expect(await rows([{ x: "2.53", n: 10 }], powers)).toEqual([
    // The first two were observed on a live splunkd.
    { x: "2.53", n: 10, a: "6.3", b: "1", c: 6.4, d: 1000, e: Math.SQRT2, f: "6.25", g: 0.5 },
  ]);
  // Conditions and aggregates use full precision.
  expect(await rows([{ x: "2.53" }], "where x*0.5>1.26")).toHaveLength(1);
  expect(await rows([{ x: "2.53" }, { x: "2.53" }], "stats sum(eval(x*0.5)) as s")).toEqual([{ s: 2.53 }]);
});

test("round shows as many places as it is asked for, and a number as it is written", async () => {
  expect(
    await rows(
      [{ x: 2.398, n: 1 }],
      `eval a=round(x,2), b=round(2,2), c=round(x), d=round(2.555,2), e=round(x,n), f=if(x>1,round(x,2),0), g=round(x,2)."%", h=2.50, i=-1.0, j=todouble(5), k=round(x,2)*10`,
    ),
  ).toEqual([
    {
      ...{ x: 2.398, n: 1, a: "2.40", b: "2.00", c: 2, d: "2.56", e: "2.4" },
      ...{ f: "2.40", g: "2.40%", h: "2.50", i: "-1.0", j: "5.0", k: 24 },
    },
  ]);
  expect(await bench.refusal("| makeresults | eval a=round(5.5,-1)")).toContain(
    "The arguments to the 'round' function are invalid.",
  );
  expect(
    await rows(
      [
        { _time: 60, v: 2 },
        { _time: 60, v: 2.9 },
      ],
      "chart eval(round(avg(v),2)) as r by _time",
    ),
  ).toEqual([{ _time: 60, r: "2.45" }]);
});

test("times that are computed are shown to the microsecond; _time itself stays a number", async () => {
  expect(
    await rows([{ _time: 60.25 }], `eval a=strptime("1970-01-02","%F"), b=time(), c=now(), _time=_time-0.5`),
  ).toEqual([
    {
      _time: 59.75,
      a: "86400.000000",
      b: `${(benchNowMs / 1000).toFixed(6)}`,
      c: benchNowMs / 1000,
    },
  ]);
});

test("rule 23: a field's text that looks like a number behaves as one", async () => {
  const input = [{ x: "9" }, { x: "10" }, { x: "abc" }];
  expect(await rows(input, "where x>9")).toEqual([{ x: "10" }, { x: "abc" }]);
  expect(await rows(input, `where x="9.0"`)).toEqual([{ x: "9" }]);
  expect(await rows(input, "eval y=x*2")).toEqual([{ x: "9", y: 18 }, { x: "10", y: 20 }, { x: "abc" }]);
});

test("fieldformat changes what results show, and not what commands see", async () => {
  const { fields, statements } = await bench.searchRows(
    [{ n: 1234567, m: 2 }],
    `fieldformat n=tostring(n,"commas") | eval k=n+m`,
  );
  expect(fields).toEqual(["n", "m", "k"]);
  expect(statements.length).toBe(1);
  expect(await rows([{ n: 1234567 }], `fieldformat n=tostring(n,"commas") | eval k=n+1`)).toEqual([
    { n: 1234567, k: 1234568 },
  ]);
});

test.each([" | eval ", ", "])(
  "a hundred steps need little memory, with '%s' between them",
  async (between) => {
    const events = Array.from({ length: 50 }, (_, n) => ({
      _time: new Date(benchNowMs - n * 1000).toISOString(),
      _raw: `n=${n}`,
      n,
    }));
    const one = await splBench(events);
    const steps = Array.from({ length: 100 }, (_, step) => `x${step}=${step === 0 ? "n" : `x${step - 1}`}+1`);
    const found = await one.search(`search index=* | eval ${steps.join(between)}`);
    await one.close();
    expect(found.rows.map(({ n, x0, x99 }) => ({ n, x0, x99 }))).toEqual(
      events.map(({ n }) => ({ n, x0: n + 1, x99: n + 100 })),
    );
  },
);
