/** Type conversions. An unconvertible value gives null. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { type ExactJson, jsonText, NumberText, readExactJson } from "../../json/exact-json.ts";
import { bindOnce, isNumeral, numberOf, textOf } from "../../relation/typed.ts";
import { singleText } from "../arithmetic.ts";
import { asList, boolean, nothing, number, text, type Value } from "../value.ts";
import type { Use } from "./declaration.ts";
import { jsonArrayOf, valuesOfJsonArray } from "./json-arrays.ts";
import { asText, type Entry, numberArgument } from "./tools.ts";

const tonumber = defineRowFunction("spl.tonumber", (given, base) => {
  const radix = Number(base);
  if (given === null || !(radix >= 2 && radix <= 36)) return null;
  const match = /^([+-]?)(?:0[xX](?=[0-9A-Fa-f]))?([0-9A-Za-z]+)$/.exec(given);
  const [, sign = "", digits = ""] = match ?? [];
  const isHex = /^[+-]?0x/i.test(given);
  if (!match || (isHex && radix !== 16)) return null;
  const known = [...digits.toLowerCase()].every((digit) => Number.parseInt(digit, 36) < radix);
  return known ? String((sign === "-" ? -1 : 1) * Number.parseInt(digits, radix)) : null;
});

/** Reads JSON of one kind, with its numbers in their shortest form: 1 for `1.00`. */
function jsonOfKind(name: string, isKind: (json: ExactJson) => boolean) {
  return defineRowFunction(`spl.${name}`, (given) => {
    const json = given === null ? undefined : readExactJson(given);
    return json !== undefined && isKind(json) ? jsonText(shortenNumbers(json)) : null;
  });
}

const toarray = jsonOfKind("toarray", Array.isArray);
const toobject = jsonOfKind("toobject", (json) => json instanceof Map);

function shortenNumbers(json: ExactJson): ExactJson {
  if (Array.isArray(json)) return json.map(shortenNumbers);
  if (json instanceof Map) return new Map([...json].map(([key, value]) => [key, shortenNumbers(value)]));
  if (!(json instanceof NumberText)) return json;
  const value = Number(json.text);
  return Number.isFinite(value) ? new NumberText(String(value)) : json;
}

/** The number of a value, as DOUBLE; NULL for a text with surrounding blanks. @param base of the digits of a text */
function parseNumber(value: Value, base: Value | undefined, use: Use): Sql {
  if (value.type === "boolean") use.fail();
  if (value.type === "number") return numberOf(value);
  if (typeof base?.constant === "number" && !(base.constant >= 2 && base.constant <= 36)) use.fail();
  return bindOnce(singleText(value), (one) => {
    if (base !== undefined && base.constant !== 10) {
      return sql`CAST(${tonumber(one, asText(numberArgument(base, use)))} AS DOUBLE)`;
    }
    return sql`CASE WHEN ${one} = trim(${one}) THEN ${numberOf({ type: "text", multi: false, sql: one })} END`;
  });
}

/** Whether a value is a constant text that is no number. */
function isNotNumeral({ constant }: Value): boolean {
  return typeof constant === "string" && !isNumeral(constant);
}

function convertText(value: Value, convert: (text: Sql) => Sql): Value {
  if (value.isNull || value.type !== "text") return nothing;
  return { ...text(convert(singleText(value))), loose: true };
}

export const typeEntries: readonly Entry[] = [
  {
    name: "toarray",
    syntax: "toarray(value)",
    summary: "A multi-value as a JSON array, or the JSON array in a text.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing]) =>
      value.multi
        ? { ...text(toarray(jsonArrayOf(value, sql`'1'`))), loose: true }
        : convertText(value, (one) => toarray(one)),
  },
  {
    name: "tobool",
    syntax: "tobool(value)",
    summary: "The boolean of `true`, `True`, `false` or `False`, or of a number: 0 is false.",
    minArgs: 1,
    maxArgs: 1,
    compile([value = nothing]) {
      if (value.type === "boolean") return value;
      if (value.isNull) return { ...nothing, type: "boolean" };
      return boolean(
        bindOnce(
          singleText(value),
          (one) =>
            sql`CASE WHEN ${one} IN ('true', 'True') THEN TRUE WHEN ${one} IN ('false', 'False') THEN FALSE ELSE ${numberOf({ type: "text", multi: false, sql: one })} <> 0 END`,
        ),
      );
    },
  },
  {
    name: "todouble",
    syntax: "todouble(value, [base])",
    summary: "The number of a value, or of a text in a base from 2 to 36; integers are displayed with `.0`.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, base], use) {
      const double = parseNumber(value, base, use);
      return { ...number(double), displayText: bindOnce(textOf(number(double)), withFraction) };
    },
  },
  {
    name: "toint",
    syntax: "toint(value, [base])",
    summary: "A number, or a text in a base from 2 to 36, rounded down.",
    minArgs: 1,
    maxArgs: 2,
    compile: ([value = nothing, base], use) => number(sql`floor(${parseNumber(value, base, use)})`),
  },
  {
    name: "tomv",
    syntax: "tomv(value)",
    summary: "The items of a JSON array as values, texts with their quotes; a multi-value stays unchanged.",
    minArgs: 1,
    maxArgs: 1,
    compile([value = nothing]) {
      if (value.multi) return value;
      if (value.isNull || value.type !== "text") return nothing;
      return { ...asList(text(valuesOfJsonArray(singleText(value), sql`'1'`))), loose: true };
    },
  },
  {
    name: "tonumber",
    syntax: "tonumber(text, [base])",
    summary: "The number of a text, in a base from 2 to 36; null if it is none.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, base], use) {
      if (base === undefined && isNotNumeral(value)) use.fail();
      return number(parseNumber(value, base, use));
    },
  },
  {
    name: "toobject",
    syntax: "toobject(value)",
    summary: "The JSON object in a text.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing]) => convertText(value, (one) => toobject(one)),
  },
];

function withFraction(shown: Sql): Sql {
  return sql`CASE WHEN ${shown} ${raw("~")} '^-?[0-9]+$' THEN ${shown} || '.0' ELSE ${shown} END`;
}
