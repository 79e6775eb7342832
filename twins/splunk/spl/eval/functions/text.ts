/** Text functions. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { replaceSql } from "../../regex/regex-sql.ts";
import { leadsToMany, valuesAt } from "../../structured/data-path.ts";

import { patternOf } from "../pattern-of.ts";
import { nothing, number, text, type Value } from "../value.ts";
import { constantText, type Entry, eachText, family, numeric, textual, whole } from "./tools.ts";

const decoded = defineRowFunction("spl.urldecode", (text) =>
  text === null
    ? null
    : text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
        Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
      ),
);

/** JSON: the values as a list of texts. */
const found = defineRowFunction("spl.spath", (text, path) => {
  const values = text === null || path === null ? [] : valuesAt(text, path);
  return values.length === 0 ? null : JSON.stringify(values);
});

/** The LIST that a program function gives as JSON. */
export function listFromJson(json: Sql): Sql {
  return sql`from_json(${json}, '["VARCHAR"]')`;
}

function trimmed(name: "trim" | "ltrim" | "rtrim", side: string): Entry {
  return {
    name,
    syntax: `${name}(text, [characters])`,
    summary: `The text without these characters at ${side}; without blanks and tabs when none are said.`,
    least: 1,
    most: 2,
    compile([value = nothing, characters], use) {
      const set = characters === undefined ? sql`CAST(${" \t"} AS VARCHAR)` : textual(characters, use);
      return eachText(value, use, (one) => sql`${raw(name)}(${one}, ${set})`);
    },
  };
}

const entries: readonly Entry[] = [
  {
    name: "len",
    syntax: "len(text)",
    summary: "How many characters it has.",
    least: 1,
    most: 1,
    compile: ([value = nothing], use) => number(sql`len(${textual(value, use)})`),
  },
  {
    name: "lower",
    syntax: "lower(text)",
    summary: "The text in lower case.",
    least: 1,
    most: 1,
    compile: ([value = nothing], use) => eachText(value, use, (one) => sql`lower(${one})`),
  },
  trimmed("ltrim", "its beginning"),
  {
    name: "replace",
    syntax: "replace(text, regex, replacement)",
    summary: "The text with every match replaced; `\\1` is what the first group has matched.",
    least: 3,
    most: 3,
    compile([value = nothing, regex = nothing, replacement = nothing], use) {
      if (regex.isNull || replacement.isNull) return nothing;
      const pattern = patternOf(regex, use);
      const by = textual(replacement, use);
      const result = eachText(value, use, (one) => replaceSql(one, pattern, by, constantText(replacement)));
      return { ...result, loose: value.loose ?? false };
    },
  },
  trimmed("rtrim", "its end"),
  {
    name: "spath",
    syntax: "spath(text, path)",
    summary: "The values at a path of a JSON or XML text: `a.b{}.c`.",
    least: 2,
    most: 2,
    compile([value = nothing, path = nothing], use) {
      const list = listFromJson(found(textual(value, use), textual(path, use)));
      const multi = leadsToMany(constantText(path) ?? "{}");
      return { ...text(multi ? list : sql`${list}[1]`, multi), loose: true };
    },
  },
  {
    name: "substr",
    syntax: "substr(text, start, [length])",
    summary: "A part of the text: from a position, from 1 or, negative, from the end.",
    least: 2,
    most: 3,
    compile([value = nothing, start = nothing, length], use) {
      const subject = textual(value, use);
      const from = whole(numeric(start, use));
      if (length === undefined) return loose(value, sql`substr(${subject}, ${from})`);
      return loose(value, sql`substr(${subject}, ${from}, greatest(${whole(numeric(length, use))}, 0))`);
    },
  },
  trimmed("trim", "its beginning and its end"),
  {
    name: "upper",
    syntax: "upper(text)",
    summary: "The text in upper case.",
    least: 1,
    most: 1,
    compile: ([value = nothing], use) => eachText(value, use, (one) => sql`upper(${one})`),
  },
  {
    name: "urldecode",
    syntax: "urldecode(text)",
    summary: "The text with its `%2F` undone.",
    least: 1,
    most: 1,
    compile: ([value = nothing], use) => eachText(value, use, (one) => decoded(one)),
  },
];

function loose(value: Value, part: Sql): Value {
  return { ...text(part), loose: value.loose ?? false };
}

export const textFunctions = family("text", entries);
