/** `makemv`: splits a field into several values. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { InvalidPattern, type Pattern, readPattern } from "../regex/pcre.ts";
import { extractAllSql } from "../regex/regex-sql.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { bindOnce, lambdaParameter, mapList, textOf } from "../relation/typed.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { readFieldAndOptions } from "../syntax/fields-and-options.ts";
import { boolean, text } from "../syntax/option-types.ts";

export const makemv = defineCommand({
  name: "makemv",
  kind: "streaming",
  parse(reader) {
    const types = { delim: text, tokenizer: text, allowempty: boolean, setsv: boolean };
    const { name, options } = readFieldAndOptions(reader, types);
    const { delim, tokenizer, allowempty: allowEmpty = false } = options;
    if (delim !== undefined && tokenizer !== undefined) {
      reader.fail("Cannot specify both delim and tokenizer options.");
    }
    const pattern = tokenizer === undefined ? undefined : readTokenizer(tokenizer, reader);
    return { name, delimiter: delim ?? " ", pattern, allowEmpty };
  },
  compile({ name, delimiter, pattern, allowEmpty }, input) {
    const column = columnOf(input, name);
    if (column === undefined || name.startsWith("_")) return input;
    const value = fieldValue(column);
    const split = (one: Sql) =>
      pattern === undefined ? sql`string_split(${one}, ${delimiter})` : extractAllSql(one, pattern, 1, 0);
    const pieces = value.multi ? sql`flatten(${mapList(textOf(value), split)})` : split(textOf(value));
    const values = allowEmpty ? pieces : nonEmpty(pieces);
    const list = bindOnce(values, (all) => sql`CASE WHEN len(${all}) > 0 THEN ${all} END`);
    return extend(input, new Map([[name, { type: "text", multi: true, sql: list }]]));
  },
});

function readTokenizer(text: string, reader: ArgumentReader): Pattern {
  try {
    const pattern = readPattern(text);
    return pattern.groups.length > 0 ? pattern : reader.fail("The tokenizer regular expression is invalid.");
  } catch (error) {
    if (error instanceof InvalidPattern) return reader.fail("The tokenizer regular expression is invalid.");
    throw error;
  }
}

function nonEmpty(list: Sql): Sql {
  const one = lambdaParameter();
  return sql`list_filter(${list}, lambda ${one}: coalesce(${one}, '') <> '')`;
}
