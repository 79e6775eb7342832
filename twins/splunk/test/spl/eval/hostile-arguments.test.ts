/** Whatever the arguments of a function are, what an expression has is a value, or splunkd's words for what is wrong. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { evalFunctions } from "../../../spl/eval/functions/registry.ts";
import { SplError } from "../../../spl/spl-error.ts";
import { rowsOf, type SplBench, splBench } from "../../support/spl.ts";

const MAX_ARGUMENTS = 4;
const CALLS = 8;
const row = { s: "a", x: 1.5, mv: ["a", "b"], numbers: ["1", "2.5", "x"] };
const found = 'lookup("hosts", json_object("host", s), json_array("n"))';
const argument = fc.constantFrom(
  ...["2.5", "0", "-1", "1e308", "9223372036854775807", "exp(1000)", "-exp(1000)", "x*exp(1000)", "null()"],
  ...['"a"', '"%"', '"[a"', '"{}"', '"9223372036854775808"', "x", "s", "mv", "numbers", "nope", "x=1"],
  ...[found, `json_extract(${found}, "n")`],
);

let bench: SplBench;
beforeAll(async () => {
  const hosts = rowsOf([{ host: "a", n: "2.5" }]);
  bench = await splBench([], {
    knowledge: { lookup: async (name) => (name === "hosts" ? hosts : undefined) },
  });
});
afterAll(() => bench.close());

const evaluate = async (expression: string) => {
  const { rows } = await bench.searchRows([row], `eval v=${expression}`);
  return rows[0]?.v ?? null;
};

test.each(evalFunctions.map(({ name, minArgs, maxArgs }) => ({ name, minArgs, maxArgs })))(
  "$name",
  async (declared) => {
    const { name, minArgs, maxArgs = MAX_ARGUMENTS } = declared;
    const calls = fc
      .integer({ min: minArgs, max: Math.max(minArgs, Math.min(maxArgs, MAX_ARGUMENTS)) })
      .chain((count) => fc.array(argument, { minLength: count, maxLength: count }));
    for (const args of fc.sample(calls, { numRuns: CALLS, seed: 1 })) {
      const call = `${name}(${args.join(", ")})`;
      await evaluate(`if(isnull(${call}), 1, 2)`).catch((error: unknown) => {
        if (!(error instanceof SplError)) throw new Error(`${call}: ${error}`, { cause: error });
      });
    }
  },
);

test.each([
  ["x * exp(1000)", "inf"],
  ['"a" . (x * exp(1000))', "ainf"],
  ["sigfig(x * exp(1000))", "inf"],
  ["sigfig(0 * 1.5)", 0],
  ["pow(x, 99999)", "inf"],
  ["substr(s, exp(1000))", null],
  ["mvindex(mv, exp(1000))", null],
  ["mvindex(mv, 0, exp(1000))", ["a", "b"]],
  ["mvjoin(mv, s)", "aab"],
  ["mvjoin(mv, nope)", null],
])("%s is %j", async (expression, expected) => {
  const value = await evaluate(expression);
  expect(value === Number.POSITIVE_INFINITY ? "inf" : value === "" ? null : value).toEqual(expected);
});

describe("what a lookup table has is looked up once a row, wherever it stands", () => {
  test.each([
    [`pow(2.5, json_extract(${found}, "n"))`, 9.9],
    [`"a" . (2.5 * json_extract(${found}, "n"))`, "a6.3"],
    [`if(mv=${found}, 1, 0)`, 0],
    [`if(mvfind(mv, ${found}) > 0, 1, 0)`, 0],
    [`if(in(mv, ${found}, "b"), 1, 0)`, 1],
    [`if(like(mv, ${found}), 1, 0)`, 0],
    [`${found} . ${found}`, '{"n":"2.5"}{"n":"2.5"}'],
    [
      `lookup("hosts", json_object("host", json_extract(lookup("hosts", json_object("n", "2.5"), json_array("host")), "host")), json_array("n"))`,
      '{"n":"2.5"}',
    ],
  ])("%s", async (expression, expected) => {
    expect(await evaluate(expression)).toEqual(expected);
  });

  test("in conditions and within stats, too", async () => {
    expect((await bench.searchRows([row], `where in(mv, ${found}, "b")`)).rows).toHaveLength(1);
    expect((await bench.searchRows([row], `where mv=${found}`)).rows).toEqual([]);
    const counted = await bench.searchRows([row], `stats count(eval(in(mv, ${found}, "b"))) as n`);
    expect(counted.rows).toEqual([{ n: 1 }]);
  });
});
