/** `regex`: filters rows by a regular expression on a field. */
import { raw, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { anyOf } from "../eval/compare.ts";
import { matchesSql } from "../regex/regex-sql.ts";
import { columnOf, fieldValue, filter } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { compileRegex, readRegexText } from "./regex-argument.ts";

export const regex = defineCommand({
  name: "regex",
  kind: "streaming",
  parse(reader) {
    const { field, keeps } = readField(reader);
    return { field, keeps, pattern: compileRegex(reader, readRegexText(reader)) };
  },
  compile({ field, keeps, pattern }, input) {
    const column = columnOf(input, field);
    const matches =
      column === undefined
        ? raw("NULL")
        : anyOf(fieldValue(column), (one) => matchesSql(textOf(one), pattern));
    const matched = sql`coalesce(${matches}, FALSE)`;
    return filter(input, keeps === "matching" ? matched : sql`NOT ${matched}`);
  },
});

function readField(reader: ArgumentReader): { field: string; keeps: "matching" | "others" } {
  const after = reader.peek(1);
  const comparator = after.type === "symbol" ? after.text : undefined;
  if (comparator !== "=" && comparator !== "!=") return { field: "_raw", keeps: "matching" };
  const field = reader.field();
  reader.next();
  return { field, keeps: comparator === "=" ? "matching" : "others" };
}
