/** Mathematical functions. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce } from "../../relation/typed.ts";
import { fieldPrecision, resultPrecision, withPlaces } from "../precision.ts";
import { constant, nothing, number, type Value } from "../value.ts";
import type { EvalFunction } from "./declaration.ts";
import { sigfig } from "./sigfig.ts";
import { type Entry, family, numeric, whole } from "./tools.ts";

function ofNumber(
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
    least: 1,
    most: 1,
    compile: ([value = nothing], use) => number(bindOnce(numeric(value, use), body)),
  };
}

const abs = ofNumber("abs", "The number without its sign.", (x) => sql`abs(${x})`);

const entries: readonly Entry[] = [
  {
    ...abs,
    async compile(args, use) {
      return { ...(await abs.compile(args, use)), precision: args[0]?.precision };
    },
  },
  ofNumber("ceiling", "The next whole number above.", (x) => sql`ceil(${x})`, ["ceil"]),
  {
    ...ofNumber("exact", "The number in all its digits.", (x) => x),
    compile: ([value = nothing], use) =>
      typeof value.constant === "number" ? constant(value.constant) : number(numeric(value, use)),
  },
  ofNumber("exp", "Euler's number to the power of a number.", (x) => sql`exp(${x})`),
  ofNumber("floor", "The next whole number below.", (x) => sql`floor(${x})`),
  ofNumber("ln", "The natural logarithm.", (x) => sql`CASE WHEN ${x} > 0 THEN ln(${x}) END`),
  ofNumber("sqrt", "The square root.", (x) => sql`CASE WHEN ${x} >= 0 THEN sqrt(${x}) END`),
  {
    name: "log",
    syntax: "log(number, [base])",
    summary: "The logarithm to a base; to 10 when none is said.",
    least: 1,
    most: 2,
    compile([value = nothing, base], use) {
      const x = numeric(value, use);
      if (base === undefined) return number(bindOnce(x, (a) => sql`CASE WHEN ${a} > 0 THEN log10(${a}) END`));
      return number(
        bindOnce(x, (a) =>
          bindOnce(
            numeric(base, use),
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
    least: 0,
    most: 0,
    compile: () => number(raw("pi()")),
  },
  {
    name: "pow",
    syntax: "pow(number, exponent)",
    summary: "A number to the power of another, as exact as the less exact of them: `pow(2.5, 2)` is 6.3.",
    least: 2,
    most: 2,
    compile([value = nothing, exponent = nothing], use) {
      const power = finite(sql`power(${numeric(value, use)}, ${numeric(exponent, use)})`);
      return { ...number(power), precision: resultPrecision("pow", [value, exponent], power) };
    },
  },
  {
    name: "round",
    syntax: "round(number, [digits])",
    summary:
      "The nearest number with so many digits behind the point, 0 when it is not said; a half is rounded away from zero.",
    least: 1,
    most: 2,
    compile([value = nothing, digits], use) {
      const x = numeric(value, use);
      if (digits === undefined || digits.constant === 0) return number(sql`round(${x})`);
      if (typeof digits.constant === "number" && digits.constant < 0) use.fail();
      const places = sql`CAST(greatest(${whole(numeric(digits, use))}, 0) AS INTEGER)`;
      const rounded = sql`round(${x}, ${places})`;
      const known = constantPlaces(digits);
      const shown = withPlaces(rounded, known ?? sql`nullif(${places}, 0)`);
      const precision = fieldPrecision({ type: "text", multi: false, sql: shown });
      return { ...number(rounded), displayText: shown, precision };
    },
  },
];

/** From 1 to 15, when they are the same in every row. */
function constantPlaces({ constant }: Value): number | undefined {
  const isPlaces =
    typeof constant === "number" && Number.isInteger(constant) && constant >= 1 && constant <= 15;
  return isPlaces ? constant : undefined;
}

/** NULL for what is no number. */
function finite(value: Sql): Sql {
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

function ofTwo(name: string, syntax: string, summary: string, body: (a: Sql, b: Sql) => Sql): Entry {
  return {
    name,
    syntax,
    summary,
    least: 2,
    most: 2,
    compile: ([first = nothing, second = nothing]: readonly Value[], use) =>
      number(body(numeric(first, use), numeric(second, use))),
  };
}

export const trigonometryFunctions = family("trigonometry", [
  ...trigonometry.map(([name, summary, body]) => ofNumber(name, summary, body)),
  ofTwo(
    "atan2",
    "atan2(y, x)",
    "The angle of the ray to a point, in radians.",
    (y, x) => sql`atan2(${y}, ${x})`,
  ),
  ofTwo(
    "hypot",
    "hypot(x, y)",
    "The longest side of a right-angled triangle.",
    (x, y) => sql`sqrt(power(${x}, 2) + power(${y}, 2))`,
  ),
]);
