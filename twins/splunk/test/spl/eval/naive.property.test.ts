import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Expression } from "../../../spl/syntax/ast.ts";
import { type ExpressionBench, expressionBench } from "../../support/expressions.ts";
import { naiveEvaluator } from "../../support/naive-eval.ts";
import { binary, call, field, minus, not, number, string, within } from "../../support/trees.ts";

const word = fc.constantFrom(
  "",
  "a",
  "b",
  "ab",
  "Ba",
  "5",
  "05",
  "10",
  "-3",
  "2.5",
  "1e2",
  "x1",
  " 7 ",
  "a,b",
  "nan",
  "1_0",
);
const row: fc.Arbitrary<Record<string, string | number | string[]>> = fc.record(
  {
    n: fc.constantFrom(0, 1, -2, 2.5, 10, 1e6),
    t: word,
    d: fc.constantFrom("5", "10", "-3", "2.50"),
    m: fc.array(word, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const fields = { n: "number", t: "text", d: "text", m: "list" } as const;
/** Every field has its type in some row. */
const typed = { n: 0.5, t: "a", d: "1", m: ["a", "b"] };

const expressions = fc.letrec<{
  number: Expression;
  text: Expression;
  list: Expression;
  truth: Expression;
  loose: Expression;
}>((tie) => ({
  loose: fc.constantFrom(field("n"), field("t"), field("d"), field("m")),
  number: fc.oneof(
    { maxDepth: 4, depthIdentifier: "e" },
    fc.constantFrom(field("n"), field("d"), number(0), number(2), number(7.5)),
    fc
      .tuple(arithmetic(tie("number")), fc.constantFrom("-", "*", "/", "%"), arithmetic(tie("number")))
      .map(([left, operator, right]) => binary(left, operator, right)),
    fc
      .tuple(arithmetic(tie("number")), arithmetic(tie("number")))
      .map(([left, right]) => binary(left, "+", right)),
    tie("loose").map((one) => minus(one)),
    tie("loose").map((one) => call("abs", one)),
    fc
      .tuple(tie("number"), fc.integer({ min: 0, max: 3 }))
      .map(([one, digits]) => call("round", one, number(digits))),
    tie("text").map((one) => call("len", one)),
    tie("list").map((one) => call("mvcount", one)),
    tie("loose").map((one) => call("tonumber", one)),
    fc.tuple(tie("truth"), tie("number"), tie("number")).map((args) => call("if", ...args)),
  ),
  text: fc.oneof(
    { maxDepth: 4, depthIdentifier: "e" },
    fc.constantFrom(field("t"), field("d"), string("a"), string("10"), string("")),
    fc.tuple(tie("text"), tie("loose")).map(([left, right]) => binary(left, ".", right)),
    fc.tuple(tie("text"), tie("text")).map(([left, right]) => binary(left, "+", right)),
    tie("text").map((one) => call("upper", one)),
    fc
      .tuple(tie("text"), fc.constantFrom(1, 2, 3, -1), fc.integer({ min: 0, max: 3 }))
      .map(([one, start, length]) => call("substr", one, number(start), number(length))),
    tie("text").map((one) => call("replace", one, string("a"), string("z"))),
    tie("number").map((one) => call("tostring", one)),
    fc
      .tuple(tie("list"), fc.integer({ min: -3, max: 3 }))
      .map(([one, index]) => call("mvindex", one, number(index))),
    tie("list").map((one) => call("mvjoin", one, string(";"))),
    fc.tuple(tie("truth"), tie("text"), tie("loose")).map((args) => call("if", ...args)),
    fc.tuple(tie("truth"), tie("number"), tie("truth"), tie("text")).map((args) => call("case", ...args)),
    fc.tuple(tie("loose"), tie("text")).map((args) => call("coalesce", ...args)),
  ),
  list: fc.oneof(
    { maxDepth: 4, depthIdentifier: "e" },
    fc.constant(field("m")),
    fc.tuple(tie("text"), tie("list")).map((args) => call("mvappend", ...args)),
    tie("list").map((one) => call("mvdedup", one)),
    tie("list").map((one) => call("mvsort", one)),
    fc.constantFrom(
      ...["a", "5", "x"].map((text) => call("mvfilter", binary(field("m"), "!=", string(text)))),
    ),
    fc.constant(call("mvfilter", binary(field("m"), ">", number(4)))),
    tie("text").map((one) => call("split", one, string(","))),
  ),
  truth: fc.oneof(
    { maxDepth: 4, depthIdentifier: "e" },
    fc
      .tuple(tie("loose"), comparator(), fc.constantFrom(string("a"), string("10"), number(5), number(-3)))
      .map(([left, operator, right]) => binary(left, operator, right)),
    fc
      .tuple(tie("number"), comparator(), tie("number"))
      .map(([left, operator, right]) => binary(left, operator, right)),
    fc
      .tuple(tie("text"), comparator(), tie("text"))
      .map(([left, operator, right]) => binary(left, operator, right)),
    fc
      .tuple(tie("loose"), comparator(), tie("loose"))
      .map(([left, operator, right]) => binary(left, operator, right)),
    fc
      .tuple(tie("truth"), fc.constantFrom("and", "or", "xor"), tie("truth"))
      .map(([left, operator, right]) => binary(left, operator, right)),
    tie("truth").map(not),
    fc
      .tuple(fc.constantFrom("isnull", "isnotnull", "isnum"), tie("loose"))
      .map(([name, one]) => call(name, one)),
    fc
      .tuple(tie("loose"), fc.constantFrom("a%", "_", "%1%", "a"))
      .map(([one, pattern]) => binary(one, "like", string(pattern))),
    fc
      .tuple(tie("loose"), fc.constantFrom("^a", "\\d$", "(a|b)(?=,)", "^$"))
      .map(([one, pattern]) => call("match", one, string(pattern))),
    fc
      .tuple(tie("loose"), fc.constantFrom([string("a"), number(10)], [string("5")]))
      .map(([one, values]) => within(one, ...values)),
  ),
}));

/** What an arithmetic operator takes: no text that the search writes. */
function arithmetic(numbers: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc.oneof(numbers, fc.constantFrom(field("t"), field("d"), field("n")));
}

function comparator() {
  return fc.constantFrom("=", "!=", "<", "<=", ">", ">=");
}

const ofTypes =
  /Type checking failed|arguments to the '(len|upper|substr|replace|split)' function are invalid/;

/** A refusal that both sides of a comparison, or the number that a function of texts is given, can be seen to earn is no matter of values. */
function isTypeError(error: unknown): boolean {
  return error instanceof Error && ofTypes.test(error.message);
}

/** Whether a value stands alone or as the only one of a list is no difference; nor are a number's last digits. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? plain(value[0]) : value.map(plain);
  return typeof value === "number" ? Number(value.toPrecision(12)) : value;
}

let bench: ExpressionBench;
beforeAll(async () => {
  bench = await expressionBench([]);
});
afterAll(() => bench.close());

const naive = naiveEvaluator(fields);
const rowsWith = fc.array(row, { minLength: 1, maxLength: 6 }).map((given) => [...given, typed]);

/** What is found; `undefined` when the types of the expression are refused. */
function unlessRefused<Result>(found: Promise<Result>): Promise<Result | undefined> {
  return found.catch((error: unknown) => {
    if (isTypeError(error)) return undefined;
    throw error;
  });
}

test("eval gives what a naive evaluator gives", async () => {
  const expression = fc.oneof(expressions.number, expressions.text, expressions.list);
  await fc.assert(
    fc.asyncProperty(rowsWith, expression, async (rows, tree) => {
      const found = await unlessRefused(bench.over(rows).values(tree));
      fc.pre(found !== undefined);
      expect(found?.map(plain)).toEqual(rows.map((one) => plain(naive.evaluate(tree, one) ?? null)));
    }),
    { numRuns: 300 },
  );
});

test("where keeps what a naive evaluator keeps", async () => {
  await fc.assert(
    fc.asyncProperty(rowsWith, expressions.truth, async (rows, tree) => {
      const kept = await unlessRefused(bench.over(rows).kept(tree));
      fc.pre(kept !== undefined);
      expect(kept).toEqual(rows.flatMap((one, index) => (naive.evaluate(tree, one) === true ? [index] : [])));
    }),
    { numRuns: 300 },
  );
});
