import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExpressionBench, expressionBench } from "../../support/expressions.ts";
import { binary, call, field, minus, not, number, string, within } from "../../support/trees.ts";

describe("eval expressions", () => {
  let bench: ExpressionBench;
  beforeAll(async () => {
    bench = await expressionBench([
      { text: "abc", digits: "200", other: "30", count: 200, many: ["a", "b"], numbers: [1, 20] },
      { text: "ABC", digits: "30", other: "x", count: 0 },
      { many: ["c"] },
    ]);
  });
  afterAll(() => bench.close());

  test("rule 16: comparisons are case-sensitive", async () => {
    expect(await bench.kept(binary(field("text"), "=", string("abc")))).toEqual([0]);
    expect(await bench.kept(call("like", field("text"), string("a%")))).toEqual([0]);
  });

  test("rule 17: a comparison with null is null, and where keeps rows only on true", async () => {
    expect(await bench.kept(binary(field("text"), "!=", string("abc")))).toEqual([1]);
    expect(await bench.kept(not(binary(field("text"), "=", string("abc"))))).toEqual([1]);
    expect(await bench.kept(binary(field("nowhere"), "=", field("nowhere")))).toEqual([]);
  });

  test("rule 18: null as a bare word is a field; null() is none", async () => {
    expect(await bench.kept(call("isnull", field("null")))).toEqual([0, 1, 2]);
    expect(await bench.kept(call("isnull", call("null")))).toEqual([0, 1, 2]);
    expect(await bench.kept(call("isnotnull", field("text")))).toEqual([0, 1]);
  });

  test("rule 21: a dot joins texts; + adds numbers, joins two texts, and makes null of a number and a text", async () => {
    expect(await bench.values(binary(field("count"), ".", string("x")))).toEqual(["200x", "0x", null]);
    expect(await bench.values(binary(field("digits"), "+", field("other")))).toEqual(["230", null, null]);
    expect(await bench.values(binary(field("text"), "+", string("!")))).toEqual(["abc!", "ABC!", null]);
    expect(await bench.values(binary(field("count"), "+", field("text")))).toEqual([null, null, null]);
    expect(await bench.values(binary(string("1"), "+", string("2")))).toEqual(["12", "12", "12"]);
  });

  test("rule 22: arithmetic with what is no number, and a division by zero, give null", async () => {
    expect(await bench.values(binary(number(10), "/", field("count")))).toEqual([0.05, null, null]);
    expect(await bench.values(binary(number(10), "%", field("count")))).toEqual([10, null, null]);
    expect(await bench.values(binary(field("other"), "*", number(2)))).toEqual([60, null, null]);
    expect(await bench.values(minus(field("digits")))).toEqual([-200, -30, null]);
  });

  test("rule 23: what looks like a number compares as one; a number and a text as texts", async () => {
    expect(await bench.kept(binary(field("digits"), ">", number(100)))).toEqual([0]);
    expect(await bench.kept(binary(field("digits"), ">", field("other")))).toEqual([0]);
    expect(await bench.kept(binary(field("count"), "=", string("200")))).toEqual([0]);
    expect(await bench.kept(binary(field("text"), ">", number(5)))).toEqual([0, 1]);
  });

  test("rule 25: if, case and coalesce look at no more than they need; case without a match is null", async () => {
    const positive = binary(field("count"), ">", number(0));
    expect(await bench.values(call("if", positive, string("some"), number(0)))).toEqual(["some", "0", "0"]);
    expect(await bench.values(call("case", positive, string("some")))).toEqual(["some", null, null]);
    expect(await bench.values(call("coalesce", field("text"), field("many")))).toEqual([
      ["abc"],
      ["ABC"],
      ["c"],
    ]);
    expect(await bench.values(call("validate", positive, string("none")))).toEqual([null, "none", null]);
  });

  test("rule 30: a multi-value compares if any of its values does", async () => {
    expect(await bench.kept(binary(field("many"), "=", string("b")))).toEqual([0]);
    expect(await bench.kept(binary(field("many"), "!=", string("a")))).toEqual([0, 2]);
    expect(await bench.kept(binary(field("numbers"), ">", number(10)))).toEqual([0]);
    expect(await bench.kept(within(field("many"), string("c"), number(1)))).toEqual([2]);
  });

  test("a function that nobody knows, and arguments that do not fit, are errors in splunkd's words", async () => {
    await expect(bench.values(call("nosuchfunc"))).rejects.toThrow(
      "Error in 'EvalCommand': The 'nosuchfunc' function is unsupported or undefined.",
    );
    await expect(bench.values(call("if", field("text")))).rejects.toThrow(
      "Error in 'EvalCommand': The arguments to the 'if' function are invalid.",
    );
  });

  test("long chains of operators compile", async () => {
    let chain = binary(field("digits"), "=", number(-1));
    for (let n = 0; n < 300; n++) chain = binary(chain, "or", binary(field("digits"), "=", number(n)));
    expect(await bench.kept(chain)).toEqual([0, 1]);
    let sum = field("digits");
    for (let n = 0; n < 30; n++) sum = binary(sum, "+", field("digits"));
    expect(await bench.kept(binary(sum, "=", number(31 * 200)))).toEqual([0]);
  });
});
