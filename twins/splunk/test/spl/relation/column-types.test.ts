import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SplError } from "../../../spl/spl-error.ts";
import { expression } from "../../../testing/grammar/spl-expression.ts";
import { type ColumnType, type SplBench, splBench } from "../../support/spl.ts";

/** A NULL of no type is an INTEGER in the rows of a subquery. */
const numeric = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|DOUBLE|"NULL"|DECIMAL\(\d+,\d+\))$/;

/** Columns whose values are of another type in the database than commands after them are told. */
function wrong(columns: readonly ColumnType[]): ColumnType[] {
  return columns.filter(({ declared, actual }) => {
    if (actual === undefined) return false;
    const one = actual.endsWith("[]") ? actual.slice(0, -2) : actual;
    const isRight = declared.type === "number" ? numeric.test(one) : one === "VARCHAR";
    return !isRight || (one !== actual) !== declared.multi;
  });
}

describe("a column has the type that it is said to have", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench([
      { _time: "2026-01-15T09:00:00Z", host: "a", x: 1, s: "5", _raw: "a=1", mv: ["1", "b"] },
    ]);
  });
  afterAll(() => bench.close());

  test.each([
    "coalesce(nope, nope2)",
    "if(a=1, n1, n2)",
    "case(a=1, n1)",
    "validate(a=1, n1)",
    "nullif(nope, nope)",
    'spath("[]", "a{}")',
    'json_array_to_mv("{")',
  ])("where no row has a value: %s", async (value) => {
    expect(wrong(await bench.columnTypes(`| makeresults | eval w=${value}`))).toEqual([]);
    for (const command of ["timechart count by w", "chart count over w by w", "stats count values(w) by w"]) {
      await bench.search(`| makeresults | eval w=${value} | ${command}`);
    }
  });

  test.each([
    'mvrange(0, -1, "1d")',
    'mvrange(x, x, "1mon")',
    "mvrange(5, 1)",
    "mvrange(nope, 3)",
    'split(nope, ",")',
    "mvappend(nope, nope2)",
    "mvindex(mv, 7, 9)",
    'mvfilter(match(mv, "nothing"))',
    "mvmap(nope, nope * 2)",
    "mvmap(mv, null())",
    "mvdedup(mvrange(5, 1))",
    "mvreverse(mvrange(5, 1))",
    "mvsort(mvrange(5, 1))",
    'mvzip(mvrange(5, 1), split(nope, ","))',
    'json_array_to_mv("[]")',
    'tomv("[]")',
    'spath("{}", "a{}")',
    'if(x=2, mvrange(5, 1), split(nope, ","))',
  ])("of lists, where there is none: %s", async (list) => {
    expect(wrong(await bench.columnTypes(`search index=* | eval w=${list}`))).toEqual([]);
    for (const use of [
      `where host = trim(host . ${list})`,
      `where isnull(${list} + 1) OR ${list} = "a" OR ${list} > 1`,
      `eval n=mvcount(${list}), j=mvjoin(${list}, ","), l=len(tostring(${list})), i=mvindex(${list}, 0) | stats sum(i) values(j) by n`,
      `eval w=${list} | stats count values(w) sum(w) by w`,
      `eval w=${list} | mvexpand w | timechart count by w`,
    ]) {
      await bench.search(`search index=* | ${use}`).catch((error: unknown) => {
        if (!(error instanceof SplError)) throw error;
      });
    }
  });

  test("whatever it is called", async () => {
    const name = fc.array(fc.constantFrom("a", "0", "\0", "\ue000", " ", "é"), { minLength: 1 });
    const names = fc.uniqueArray(
      name.map((letters) => `x${letters.join("")}y`),
      { minLength: 2, maxLength: 3 },
    );
    const property = fc.asyncProperty(names, async (given) => {
      const values = given.map((one, index) => `"${one}"=${index}`).join(", ");
      const list = given.map((one) => `"${one}"`).join(" ");
      const { fields, rows } = await bench.search(
        `| makeresults | eval ${values} | stats count by ${list} | table ${list} | rename count as "c\0"`,
      );
      expect(fields).toEqual(given);
      expect(rows).toEqual([Object.fromEntries(given.map((one, index) => [one, index]))]);
    });
    await fc.assert(property, { numRuns: 50, seed: 1 });
  });

  test("whatever expression it is computed by", async () => {
    const property = fc.asyncProperty(expression, async (value) => {
      try {
        expect(wrong(await bench.columnTypes(`search index=* | eval w=${value}`))).toEqual([]);
      } catch (error) {
        if (!(error instanceof SplError)) throw error;
      }
    });
    await fc.assert(property, { numRuns: 400, seed: 1 });
  });
});
