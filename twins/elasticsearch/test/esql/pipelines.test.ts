/** Random pipelines over random rows agree with a naive evaluator. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { rows, storeOf } from "./events.ts";

/** A value of the evaluator; `null` is unknown. */
type Value = number | string | boolean | null;
type Row = Record<string, Value>;

/** Number of the row's event, or of its group's first event: the tie-break of sorts. */
const PLACE = "place";

/** An expression as text, with its value in a row. */
interface Expression {
  text: string;
  of(row: Row): Value;
}

const MAX_INT = 2 ** 31 - 1;

function whole(depth: number): fc.Arbitrary<Expression> {
  const leaf = fc.oneof(
    fc.constantFrom("a", "b").map((name): Expression => ({ text: name, of: (row) => row[name] ?? null })),
    fc
      .integer({ min: -9, max: 9 })
      .map((value): Expression => ({ text: value < 0 ? `(${value})` : String(value), of: () => value })),
  );
  if (depth === 0) return leaf;
  const inner = whole(depth - 1);
  return fc.oneof(
    leaf,
    fc.tuple(fc.constantFrom("+", "-", "*", "/", "%"), inner, inner).map(
      ([operator, left, right]): Expression => ({
        text: `(${left.text} ${operator} ${right.text})`,
        of: (row) => arithmetic(operator, left.of(row), right.of(row)),
      }),
    ),
    inner.map(
      (operand): Expression => ({
        text: `ABS(${operand.text})`,
        of: (row) => lift(operand.of(row), Math.abs),
      }),
    ),
    fc.tuple(condition(depth - 1), inner, inner).map(
      ([test, yes, no]): Expression => ({
        // Branches need one type: columns are long, literals integer.
        text: `CASE(${test.text}, TO_LONG(${yes.text}), TO_LONG(${no.text}))`,
        of: (row) => (test.of(row) === true ? yes.of(row) : no.of(row)),
      }),
    ),
  );
}

function lift(value: Value, apply: (value: number) => number): Value {
  return typeof value === "number" ? apply(value) : null;
}

function arithmetic(operator: string, left: Value, right: Value): Value {
  if (typeof left !== "number" || typeof right !== "number") return null;
  // Whole numbers have no negative zero.
  const tidy = (value: number) => (value === 0 ? 0 : value);
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return tidy(left * right);
    case "/":
      return right === 0 ? null : tidy(Math.trunc(left / right));
    default:
      return right === 0 ? null : tidy(left % right);
  }
}

function condition(depth: number): fc.Arbitrary<Expression> {
  const compared = fc
    .tuple(fc.constantFrom("==", "!=", "<", "<=", ">", ">="), whole(Math.max(depth - 1, 0)), whole(0))
    .map(
      ([operator, left, right]): Expression => ({
        text: `(${left.text} ${operator} ${right.text})`,
        of: (row) => compare(operator, left.of(row), right.of(row)),
      }),
    );
  const strings = fc.tuple(fc.constantFrom("s", "t"), fc.constantFrom("x", "xy", "z")).chain(([name, text]) =>
    fc.constantFrom<Expression>(
      { text: `${name} == "${text}"`, of: (row) => compare("==", row[name] ?? null, text) },
      {
        text: `${name} LIKE "${text}*"`,
        of: (row) => (row[name] === null ? null : String(row[name]).startsWith(text)),
      },
      {
        text: `${name} IN ("${text}", "q")`,
        of: (row) => (row[name] === null ? null : row[name] === text || row[name] === "q"),
      },
      { text: `${name} IS NULL`, of: (row) => row[name] === null },
      {
        text: `STARTS_WITH(${name}, "${text}")`,
        of: (row) => (row[name] === null ? null : String(row[name]).startsWith(text)),
      },
    ),
  );
  if (depth === 0) return fc.oneof(compared, strings);
  const inner = condition(depth - 1);
  return fc.oneof(
    compared,
    strings,
    inner.map(
      (operand): Expression => ({
        text: `NOT ${operand.text.startsWith("(") ? operand.text : `(${operand.text})`}`,
        of: (row) => not(operand.of(row)),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([left, right]): Expression => ({
        text: `(${left.text} AND ${right.text})`,
        of: (row) => and(left.of(row), right.of(row)),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([left, right]): Expression => ({
        text: `(${left.text} OR ${right.text})`,
        of: (row) => not(and(not(left.of(row)), not(right.of(row)))),
      }),
    ),
  );
}

function compare(operator: string, left: Value, right: Value): Value {
  if (left === null || right === null) return null;
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

function not(value: Value): Value {
  return value === null ? null : !value;
}

function and(left: Value, right: Value): Value {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
}

/** A command as text, with its effect on rows. Rows have the columns a, b, s, t in this order. */
interface Step {
  text: string;
  run(rows: readonly Row[]): Row[];
}

const names = ["a", "b", "s", "t"];

const step: fc.Arbitrary<Step> = fc.oneof(
  condition(2).map(
    (test): Step => ({
      text: `WHERE ${test.text}`,
      run: (given) => given.filter((row) => test.of(row) === true),
    }),
  ),
  fc.tuple(fc.constantFrom("a", "b"), whole(2)).map(
    ([name, value]): Step => ({
      text: `EVAL ${name} = TO_LONG(${value.text}) | KEEP a, b, s, t`,
      run: (given) => given.map((row) => ({ ...row, [name]: value.of(row) })),
    }),
  ),
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom("ASC", "DESC"),
      fc.constantFrom("FIRST", "LAST"),
      fc.integer({ min: 0, max: 12 }),
    )
    .map(
      ([name, direction, nulls, count]): Step => ({
        text: `SORT ${name} ${direction} NULLS ${nulls} | LIMIT ${count}`,
        run: (given) => sorted(given, name, direction === "DESC", nulls === "FIRST").slice(0, count),
      }),
    ),
  fc.constantFrom("s", "t").map(
    (name): Step => ({
      text: `STATS n = COUNT(a), a = SUM(a), b = MAX(b) BY k = ${name} | RENAME k AS s | EVAL t = CASE(n > 1, "x", "z") | KEEP a, b, s, t`,
      run: (given) => grouped(given, name),
    }),
  ),
);

function sorted(given: readonly Row[], name: string, descending: boolean, nullsFirst: boolean): Row[] {
  return [...given].sort((left, right) => {
    const [a, b] = [left[name] ?? null, right[name] ?? null];
    if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
    return a === b ? 0 : a < b === descending ? 1 : -1;
  });
}

function grouped(given: readonly Row[], name: string): Row[] {
  const groups = new Map<Value, Row[]>();
  for (const row of given) groups.set(row[name] ?? null, [...(groups.get(row[name] ?? null) ?? []), row]);
  const made = [...groups].map(([key, members]): Row => {
    const numbers = (column: string) =>
      members.flatMap((row) => (typeof row[column] === "number" ? [row[column]] : []));
    const counted = numbers("a");
    return {
      a: counted.length === 0 ? null : counted.reduce((sum, value) => sum + value, 0),
      b: numbers("b").length === 0 ? null : Math.max(...numbers("b")),
      s: key,
      t: counted.length > 1 ? "x" : "z",
      [PLACE]: Math.min(...members.map((row) => Number(row[PLACE]))),
    };
  });
  return made.sort((left, right) => Number(left[PLACE]) - Number(right[PLACE]));
}

const row: fc.Arbitrary<Row> = fc.record({
  a: fc.option(fc.integer({ min: -20, max: 20 }), { freq: 4 }),
  b: fc.option(fc.integer({ min: -3, max: 3 }), { freq: 4 }),
  s: fc.option(fc.constantFrom("x", "xy", "z"), { freq: 4 }),
  t: fc.option(fc.constantFrom("x", "q"), { freq: 4 }),
});

it("gives the rows that a naive evaluator gives, in its order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.array(step, { minLength: 1, maxLength: 4 }),
      async (given, steps) => {
        // The first event has every field, which fixes their types.
        const all: Row[] = [{ a: 1, b: 2, s: "x", t: "q" }, ...given];
        const expected = steps.reduce<Row[]>(
          (before, { run }) => run(before),
          all.map((values, place) => ({ ...values, [PLACE]: place })),
        );
        fc.pre(expected.every(({ a, b }) => Math.abs(Number(a)) < MAX_INT && Math.abs(Number(b)) < MAX_INT));
        const store = await storeOf(
          all.map((event) => Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null))),
        );
        try {
          const query = ["FROM logs | KEEP a, b, s, t", ...steps.map(({ text }) => text), "LIMIT 1000"].join(
            " | ",
          );
          const answer = await rows(store, query);
          expect(answer, query).toEqual(expected.map((values) => names.map((name) => values[name] ?? null)));
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: 30 },
  );
});
