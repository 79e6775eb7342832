/** Functions of numbers. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-math-functions */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { constantTyped, type Typed, widen } from "../typed.ts";
import { isWhole, typeSets } from "../types.ts";
import { argument, type Call, type ScalarFunction } from "./declaration.ts";

const number = { name: "number", types: typeSets.numeric } as const;

function declareMath(declaration: Omit<ScalarFunction, "kind" | "family">): ScalarFunction {
  return { kind: "scalar", family: "math", ...declaration };
}

function double(call: Call, index: number): Typed {
  return widen(argument(call, index), "double");
}

/** Declares a function that is defined for every number. */
function totalFunction(name: string, summary: string, called = name): ScalarFunction {
  return declareMath({
    name,
    summary,
    parameters: [number],
    returns: "double",
    compile: (call) => call.derive(sql`${raw(called)}(${double(call, 0).sql})`),
  });
}

/** Declares a function that is defined for some numbers. */
function partialFunction(
  name: string,
  summary: string,
  defined: (value: Sql) => Sql,
  message: string,
): ScalarFunction {
  return declareMath({
    name,
    summary,
    parameters: [number],
    returns: "double",
    compile(call) {
      const value = call.compiler.hoist(double(call, 0)).sql;
      const made = call.derive(sql`${raw(name)}(${value})`);
      return call.compiler.guard(made, defined(value), `java.lang.ArithmeticException: ${message}`);
    },
  });
}

/** Declares a function whose result may overflow. */
function overflowingFunction(name: string, summary: string, message: string): ScalarFunction {
  return declareMath({
    name,
    summary,
    parameters: [number],
    returns: "double",
    compile(call) {
      const result = call.compiler.hoist(call.derive(sql`${raw(name)}(${double(call, 0).sql})`));
      return call.compiler.guard(
        result,
        sql`isfinite(${result.sql})`,
        `java.lang.ArithmeticException: ${message}`,
      );
    },
  });
}

function constant(name: string, value: number, summary: string): ScalarFunction {
  return declareMath({
    name,
    summary,
    parameters: [],
    returns: "double",
    compile: ({ at }) => constantTyped({ type: "double", value }, at),
  });
}

/**
 * Rounds to a whole number. Integer types pass through unchanged, several values included, as the vendor computes
 * nothing for them.
 */
function toWhole(name: "ceil" | "floor", summary: string): ScalarFunction {
  return declareMath({
    name,
    summary,
    parameters: [{ ...number, multi: true }],
    returns: ([type = "double"]) => type,
    compile(call) {
      const value = argument(call, 0);
      if (isWhole(value.type)) return value;
      return call.derive(sql`${raw(name)}(${call.compiler.single(value, call.at).sql})`);
    },
  });
}

const withinOne = (value: Sql) => sql`${value} BETWEEN -1 AND 1`;

export const mathFunctions: readonly ScalarFunction[] = [
  declareMath({
    name: "abs",
    summary: "The number without its sign.",
    parameters: [number],
    returns: ([type = "double"]) => type,
    compile(call) {
      const value = argument(call, 0);
      const made = call.derive(sql`abs(${value.sql})`);
      if (!isWhole(value.type) || value.type === "unsigned_long") return made;
      const limit = value.type === "integer" ? "int" : "long";
      return call.compiler.attempt(
        made,
        [value],
        `java.lang.ArithmeticException: Overflow to represent absolute value of ${limit === "int" ? "Integer" : "Long"}.MIN_VALUE`,
      );
    },
  }),
  partialFunction("acos", "The arc cosine, in radians.", withinOne, "Acos input out of range"),
  partialFunction("asin", "The arc sine, in radians.", withinOne, "Asin input out of range"),
  totalFunction("atan", "The arc tangent, in radians."),
  declareMath({
    name: "atan2",
    summary: "The angle of the ray to a point, in radians.",
    parameters: [
      { name: "y_coordinate", types: typeSets.numeric },
      { name: "x_coordinate", types: typeSets.numeric },
    ],
    returns: "double",
    compile: (call) => call.derive(sql`atan2(${double(call, 0).sql}, ${double(call, 1).sql})`),
  }),
  declareMath({
    name: "cbrt",
    summary: "The cube root.",
    parameters: [number],
    returns: "double",
    compile(call) {
      const value = call.compiler.hoist(double(call, 0)).sql;
      const root = call.compiler.hoist(call.derive(sql`cbrt(${value})`)).sql;
      // A Newton step corrects DuckDB's root, which is not exactly 3 for 27.
      return call.derive(
        sql`CASE WHEN ${root} = 0 THEN ${root} ELSE ${root} - (${root} * ${root} * ${root} - ${value}) / (3 * ${root} * ${root}) END`,
      );
    },
  }),
  toWhole("ceil", "The next whole number above."),
  totalFunction("cos", "The cosine of an angle in radians."),
  overflowingFunction("cosh", "The hyperbolic cosine.", "cosh overflow"),
  constant("e", Math.E, "Euler's number."),
  toWhole("floor", "The next whole number below."),
  declareMath({
    name: "log",
    summary: "The logarithm: of a number, or by a base (first argument) of a number.",
    parameters: [
      { name: "base", types: typeSets.numeric },
      { name: "number", types: typeSets.numeric, optional: true },
    ],
    returns: "double",
    compile: logarithm,
  }),
  partialFunction(
    "log10",
    "The logarithm by 10.",
    (value) => sql`${value} > 0`,
    "Log of non-positive number",
  ),
  constant("pi", Math.PI, "The ratio of a circle's circumference to its diameter."),
  declareMath({
    name: "pow",
    summary: "A number to the power of another.",
    parameters: [
      { name: "base", types: typeSets.numeric },
      { name: "exponent", types: typeSets.numeric },
    ],
    returns: "double",
    compile: (call) =>
      call.compiler.finite(call.derive(sql`pow(${double(call, 0).sql}, ${double(call, 1).sql})`)),
  }),
  declareMath({
    name: "round",
    summary: "The number, rounded to so many decimals (default 0), halves away from zero.",
    parameters: [
      { ...number, multi: true },
      { name: "decimals", types: typeSets.whole, optional: true },
    ],
    returns: ([type = "double"]) => type,
    compile: round,
  }),
  totalFunction("signum", "-1, 0 or 1, as the sign is.", "sign"),
  totalFunction("sin", "The sine of an angle in radians."),
  overflowingFunction("sinh", "The hyperbolic sine.", "sinh overflow"),
  partialFunction("sqrt", "The square root.", (value) => sql`${value} >= 0`, "Square root of negative"),
  totalFunction("tan", "The tangent of an angle in radians."),
  totalFunction("tanh", "The hyperbolic tangent."),
  constant("tau", 2 * Math.PI, "The ratio of a circle's circumference to its radius."),
];

function logarithm(call: Call): Typed {
  const { compiler } = call;
  const message = "java.lang.ArithmeticException: Log of non-positive number";
  const first = compiler.hoist(double(call, 0));
  if (call.args.length === 1)
    return compiler.guard(call.derive(sql`ln(${first.sql})`), sql`${first.sql} > 0`, message);
  const second = compiler.hoist(double(call, 1));
  const valid = sql`${first.sql} > 0 AND ${second.sql} > 0`;
  const made = compiler.guard(
    call.derive(sql`(log10(${second.sql}) / nullif(log10(${first.sql}), 0))`),
    valid,
    message,
  );
  const isOne = sql`NOT (${valid}) OR ${first.sql} <> 1`;
  compiler.pipeline.check(
    call.at,
    sql`NOT (${isOne})`,
    sql`${"java.lang.ArithmeticException: Log of base 1"}`,
  );
  return made;
}

function round(call: Call): Typed {
  const given = argument(call, 0);
  const decimals = call.args[1];
  if (isWhole(given.type) && !decimals) return given;
  const value = call.compiler.single(given, call.at);
  if (decimals && isWhole(value.type)) {
    const digits = call.compiler.hoist(decimals).sql;
    return call.derive(
      sql`CAST(CASE WHEN ${digits} >= 0 THEN ${value.sql} ELSE round(${value.sql}, CAST(greatest(${digits}, -20) AS INTEGER)) END AS ${raw(value.type === "integer" ? "INTEGER" : value.type === "long" ? "BIGINT" : "UBIGINT")})`,
    );
  }
  const digits = decimals ? sql`CAST(greatest(least(${decimals.sql}, 300), -300) AS INTEGER)` : raw("0");
  return call.derive(sql`round(${value.sql}, ${digits})`);
}
