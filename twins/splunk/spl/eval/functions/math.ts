/** Mathematical functions. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce } from "../../relation/typed.ts";
import { fieldPrecision, formatPlaces, resultPrecision } from "../precision.ts";
import { constant, nothing, number, type Value } from "../value.ts";
import type { EvalFunction } from "./declaration.ts";
import { sigfig } from "./sigfig.ts";
import { type Entry, family, numberArgument, toPosition } from "./tools.ts";

function numberFunction(
  name: string,
  summary: string,
  body: (x: Sql) => Sql,
  aliases: readonly string[] = [],
): Entry {
  return {
    name,
    aliases,
    syntax: `${name}(number)`,
    summary,
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => number(bindOnce(numberArgument(value, use), body)),
  };
}

const abs = numberFunction("abs", "The number without its sign.", (x) => sql`abs(${x})`);

const entries: readonly Entry[] = [
  {
    ...abs,
    async compile(args, use) {
      return { ...(await abs.compile(args, use)), precision: args[0]?.precision };
    },
  },
  numberFunction("ceiling", "The next integer above.", (x) => sql`ceil(${x})`, ["ceil"]),
  {
    ...numberFunction("exact", "The number with all its digits.", (x) => x),
    compile: ([value = nothing], use) =>
      typeof value.constant === "number" ? constant(value.constant) : number(numberArgument(value, use)),
  },
  numberFunction("exp", "Euler's number to the power of a number.", (x) => sql`exp(${x})`),
  numberFunction("floor", "The next integer below.", (x) => sql`floor(${x})`),
  numberFunction("ln", "The natural logarithm.", (x) => sql`CASE WHEN ${x} > 0 THEN ln(${x}) END`),
  numberFunction("sqrt", "The square root.", (x) => sql`CASE WHEN ${x} >= 0 THEN sqrt(${x}) END`),
  {
    name: "log",
    syntax: "log(number, [base])",
    summary: "The logarithm to a base; default: 10.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, base], use) {
      const x = numberArgument(value, use);
      if (base === undefined) return number(bindOnce(x, (a) => sql`CASE WHEN ${a} > 0 THEN log10(${a}) END`));
      return number(
        bindOnce(x, (a) =>
          bindOnce(
            numberArgument(base, use),
            (b) => sql`CASE WHEN ${a} > 0 AND ${b} > 0 AND ${b} <> 1 THEN ln(${a}) / ln(${b}) END`,
          ),
        ),
      );
    },
  },
  {
    name: "pi",
    syntax: "pi()",
    summary: "The number π.",
    minArgs: 0,
    maxArgs: 0,
    compile: () => number(raw("pi()")),
  },
  {
    name: "pow",
    syntax: "pow(number, exponent)",
    summary:
      "A number to the power of another, with the precision of the less precise one: `pow(2.5, 2)` is 6.3.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, exponent = nothing], use) {
      const power = nullIfNaN(sql`power(${numberArgument(value, use)}, ${numberArgument(exponent, use)})`);
      return { ...number(power), precision: resultPrecision("pow", [value, exponent], power) };
    },
  },
  {
    name: "round",
    syntax: "round(number, [digits])",
    summary:
      "The nearest number with so many decimal places, by default 0; a half is rounded away from zero.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, digits], use) {
      const x = numberArgument(value, use);
      if (digits === undefined || digits.constant === 0) return number(sql`round(${x})`);
      if (typeof digits.constant === "number" && digits.constant < 0) use.fail();
      const places = sql`CAST(greatest(${toPosition(numberArgument(digits, use))}, 0) AS INTEGER)`;
      const rounded = sql`round(${x}, ${places})`;
      const known = constantPlaces(digits);
      const shown = formatPlaces(rounded, known ?? sql`nullif(${places}, 0)`);
      const precision = fieldPrecision({ type: "text", multi: false, sql: shown });
      return { ...number(rounded), displayText: shown, precision };
    },
  },
];

/** A constant count of decimal places from 1 to 15. */
function constantPlaces({ constant }: Value): number | undefined {
  const isPlaces =
    typeof constant === "number" && Number.isInteger(constant) && constant >= 1 && constant <= 15;
  return isPlaces ? constant : undefined;
}

/** Replaces NaN by NULL. */
function nullIfNaN(value: Sql): Sql {
  return bindOnce(value, (x) => sql`CASE WHEN NOT isnan(${x}) THEN ${x} END`);
}

export const mathematicalFunctions: readonly EvalFunction[] = [...family("mathematical", entries), sigfig];

const trigonometry: readonly [name: string, summary: string, body: (x: Sql) => Sql][] = [
  ["acos", "The arc cosine, in radians.", (x) => sql`CASE WHEN ${x} BETWEEN -1 AND 1 THEN acos(${x}) END`],
  ["acosh", "The inverse hyperbolic cosine.", (x) => sql`CASE WHEN ${x} >= 1 THEN acosh(${x}) END`],
  ["asin", "The arc sine, in radians.", (x) => sql`CASE WHEN ${x} BETWEEN -1 AND 1 THEN asin(${x}) END`],
  ["asinh", "The inverse hyperbolic sine.", (x) => sql`asinh(${x})`],
  ["atan", "The arc tangent, in radians.", (x) => sql`atan(${x})`],
  ["atanh", "The inverse hyperbolic tangent.", (x) => sql`CASE WHEN abs(${x}) < 1 THEN atanh(${x}) END`],
  ["cos", "The cosine of an angle in radians.", (x) => sql`CASE WHEN isfinite(${x}) THEN cos(${x}) END`],
  ["cosh", "The hyperbolic cosine.", (x) => sql`cosh(${x})`],
  ["sin", "The sine of an angle in radians.", (x) => sql`CASE WHEN isfinite(${x}) THEN sin(${x}) END`],
  ["sinh", "The hyperbolic sine.", (x) => sql`sinh(${x})`],
  ["tan", "The tangent of an angle in radians.", (x) => sql`CASE WHEN isfinite(${x}) THEN tan(${x}) END`],
  ["tanh", "The hyperbolic tangent.", (x) => sql`tanh(${x})`],
];

function binaryFunction(name: string, syntax: string, summary: string, body: (a: Sql, b: Sql) => Sql): Entry {
  return {
    name,
    syntax,
    summary,
    minArgs: 2,
    maxArgs: 2,
    compile: ([first = nothing, second = nothing]: readonly Value[], use) =>
      number(body(numberArgument(first, use), numberArgument(second, use))),
  };
}

export const trigonometryFunctions = family("trigonometry", [
  ...trigonometry.map(([name, summary, body]) => numberFunction(name, summary, body)),
  binaryFunction(
    "atan2",
    "atan2(y, x)",
    "The angle of the ray to a point, in radians.",
    (y, x) => sql`atan2(${y}, ${x})`,
  ),
  binaryFunction(
    "hypot",
    "hypot(x, y)",
    "The longest side of a right-angled triangle.",
    (x, y) => sql`sqrt(power(${x}, 2) + power(${y}, 2))`,
  ),
]);
