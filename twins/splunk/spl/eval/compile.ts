/** Compiles nodes of the syntax tree to SQL. */
import { raw, sql } from "@offhook/log-store/sql";
import { subsearchText } from "../search/format-rows.ts";
import type { Expression, Subsearch } from "../syntax/ast.ts";
import { parseExpression } from "../syntax/parse-text.ts";
import { add, arithmetic, concatenate, negate } from "./arithmetic.ts";
import { compare, isIn } from "./compare.ts";
import type { Family } from "./functions/declaration.ts";
import { findFunction } from "./functions/registry.ts";
import { conjunction, disjunction, exclusive, negation } from "./logic.ts";
import { like } from "./patterns.ts";
import { literalPrecision, roundToPrecision } from "./precision.ts";
import type { Scope } from "./scope.ts";
import { certainType, constant, type Value } from "./value.ts";

type Binary = Extract<Expression, { node: "binary" }>;
type FunctionCall = Extract<Expression, { node: "call" }>;

/** @throws SplError of phase `run` */
export async function compile(expression: Expression, scope: Scope): Promise<Value> {
  switch (expression.node) {
    case "number": {
      const { value, text } = expression;
      const precision = literalPrecision(text);
      const isShown = precision !== undefined && String(value) !== text;
      return {
        ...constant(value),
        precision,
        ...(isShown ? { displayText: sql`CAST(${text} AS VARCHAR)` } : {}),
      };
    }
    case "string":
      return constant(expression.value);
    case "field":
      return scope.field(expression.name);
    case "call":
      return castText(await compileCall(expression, scope));
    case "unary": {
      const operand = await compile(expression.operand, scope);
      if (expression.operator === "not") return negation(operand, scope);
      return expression.operator === "-" ? negate(operand, scope) : operand;
    }
    case "binary":
      return castText(await compileChain(expression, scope));
    case "in": {
      const [operand, ...values] = await compileAll([expression.operand, ...expression.values], scope);
      return operand === undefined
        ? scope.fail("The expression is malformed.")
        : isIn(operand, values, scope);
    }
    case "subsearch":
      return compile(await parseSubsearchResult(expression.subsearch, scope), scope);
  }
}

/** Runs a subsearch and parses its result as an expression. */
async function parseSubsearchResult({ pipeline }: Subsearch, scope: Scope): Promise<Expression> {
  const { context } = scope;
  return parseExpression(subsearchText(await context.subsearch(pipeline)), "eval", context.parse);
}

function compileAll(expressions: readonly Expression[], scope: Scope): Promise<Value[]> {
  return Promise.all(expressions.map((expression) => compile(expression, scope)));
}

/** Compiles a left-leaning chain (`a OR b OR c …`) in a loop, so that its length does not exhaust the stack. */
async function compileChain(expression: Binary, scope: Scope): Promise<Value> {
  const links: Binary[] = [];
  let first: Expression = expression;
  while (first.node === "binary") {
    links.push(first);
    first = first.left;
  }
  let left = await compile(first, scope);
  for (const link of links.reverse()) {
    left = applyOperator(link.operator, left, await compile(link.right, scope), scope);
  }
  return left;
}

function applyOperator(operator: Binary["operator"], left: Value, right: Value, scope: Scope): Value {
  switch (operator) {
    case "and":
      return conjunction([left, right], scope);
    case "or":
      return disjunction([left, right], scope);
    case "xor":
      return exclusive(left, right, scope);
    case "like":
      return like(roundToPrecision(left), roundToPrecision(right), scope);
    case ".":
      return concatenate(left, right, scope);
    case "+":
      return add(left, right, scope);
    case "-":
    case "*":
    case "/":
    case "%":
      return arithmetic(operator, left, right, scope);
    default:
      return compare(operator, left, right, scope);
  }
}

/** Functions of these families see numbers with all digits; others see them rounded to their precision. */
const numericFamilies: ReadonlySet<Family> = new Set<Family>([
  "mathematical",
  "trigonometry",
  "bitwise",
  "date and time",
]);

/** Functions that reject a number known before the search runs, `len(123)`. A field's value always counts as text for them. */
const textFunctions: ReadonlySet<string> = new Set([
  ...["len", "lower", "upper", "urldecode", "substr", "replace", "split", "md5", "sha1", "sha256", "sha512"],
]);

async function compileCall({ name, args }: FunctionCall, scope: Scope): Promise<Value> {
  const declared = findFunction(name);
  if (!declared) return scope.fail(`The '${name}' function is unsupported or undefined.`);
  const fail = (): never => scope.fail(`The arguments to the '${name}' function are invalid.`);
  if (args.length < declared.minArgs || args.length > (declared.maxArgs ?? Number.POSITIVE_INFINITY)) fail();
  if (declared.kind === "form") return declared.compile(args, { scope, compile, fail });
  const compiled = await compileAll(args, scope);
  const values = numericFamilies.has(declared.family) ? compiled : compiled.map(roundToPrecision);
  if (!declared.takesNull && values.some((value) => certainType(value) === "null")) fail();
  const [subject] = compiled;
  if (textFunctions.has(declared.name) && subject !== undefined && certainType(subject) === "number") fail();
  return declared.compile(values, { scope, compile, fail });
}

/**
 * Casts texts to VARCHAR. DuckDB gives a NULL known at planning no type, and INTEGER in the rows of a subquery. A cast to the type a
 * value already has costs nothing.
 */
function castText(value: Value): Value {
  if (value.type !== "text" || value.isNull || value.constant !== undefined || value.nonNull) return value;
  return { ...value, sql: sql`CAST(${value.sql} AS ${raw(value.multi ? "VARCHAR[]" : "VARCHAR")})` };
}
