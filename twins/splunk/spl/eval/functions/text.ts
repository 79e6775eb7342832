/** Text functions. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { replaceSql } from "../../regex/regex-sql.ts";
import { isMultiPath, valuesAt } from "../../structured/data-path.ts";
import { patternOf } from "../pattern-of.ts";
import { nothing, number, text, type Value } from "../value.ts";
import {
  constantText,
  type Entry,
  family,
  mapText,
  numberArgument,
  textArgument,
  toPosition,
} from "./tools.ts";

const urldecode = defineRowFunction("spl.urldecode", (text) =>
  text === null
    ? null
    : text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
        Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
      ),
);

/** The values at a path, as a JSON list of texts. */
const spathValues = defineRowFunction("spl.spath", (text, path) => {
  const values = text === null || path === null ? [] : valuesAt(text, path);
  return values.length === 0 ? null : JSON.stringify(values);
});

/** The LIST of texts that a row function returned as JSON. */
export function listFromJson(json: Sql): Sql {
  return sql`from_json(${json}, '["VARCHAR"]')`;
}

function trimFunction(name: "trim" | "ltrim" | "rtrim", side: string): Entry {
  return {
    name,
    syntax: `${name}(text, [characters])`,
    summary: `The text without these characters at ${side}; default: blanks and tabs.`,
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, characters], use) {
      const set = characters === undefined ? sql`CAST(${" \t"} AS VARCHAR)` : textArgument(characters, use);
      return mapText(value, use, (one) => sql`${raw(name)}(${one}, ${set})`);
    },
  };
}

const entries: readonly Entry[] = [
  {
    name: "len",
    syntax: "len(text)",
    summary: "Number of characters.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => number(sql`len(${textArgument(value, use)})`),
  },
  {
    name: "lower",
    syntax: "lower(text)",
    summary: "The text in lower case.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => mapText(value, use, (one) => sql`lower(${one})`),
  },
  trimFunction("ltrim", "its beginning"),
  {
    name: "replace",
    syntax: "replace(text, regex, replacement)",
    summary: "The text with every match replaced; `\\1` stands for the first group.",
    minArgs: 3,
    maxArgs: 3,
    compile([value = nothing, regex = nothing, replacement = nothing], use) {
      if (regex.isNull || replacement.isNull) return nothing;
      const pattern = patternOf(regex, use);
      const by = textArgument(replacement, use);
      const result = mapText(value, use, (one) => replaceSql(one, pattern, by, constantText(replacement)));
      return { ...result, loose: value.loose ?? false };
    },
  },
  trimFunction("rtrim", "its end"),
  {
    name: "spath",
    syntax: "spath(text, path)",
    summary: "The values at a path of a JSON or XML text: `a.b{}.c`.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, path = nothing], use) {
      const list = listFromJson(spathValues(textArgument(value, use), textArgument(path, use)));
      const multi = isMultiPath(constantText(path) ?? "{}");
      return { ...text(multi ? list : sql`${list}[1]`), multi, loose: true };
    },
  },
  {
    name: "substr",
    syntax: "substr(text, start, [length])",
    summary: "A part of the text. Positions count from 1; negative ones from the end.",
    minArgs: 2,
    maxArgs: 3,
    compile([value = nothing, start = nothing, length], use) {
      const subject = textArgument(value, use);
      const from = toPosition(numberArgument(start, use));
      if (length === undefined) return asLooseAs(value, sql`substr(${subject}, ${from})`);
      return asLooseAs(
        value,
        sql`substr(${subject}, ${from}, greatest(${toPosition(numberArgument(length, use))}, 0))`,
      );
    },
  },
  trimFunction("trim", "its beginning and its end"),
  {
    name: "upper",
    syntax: "upper(text)",
    summary: "The text in upper case.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => mapText(value, use, (one) => sql`upper(${one})`),
  },
  {
    name: "urldecode",
    syntax: "urldecode(text)",
    summary: "The text with `%2F` and the like decoded.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => mapText(value, use, (one) => urldecode(one)),
  },
];

function asLooseAs(value: Value, part: Sql): Value {
  return { ...text(part), loose: value.loose ?? false };
}

export const textFunctions = family("text", entries);
