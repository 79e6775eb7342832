/** `replace`: replaces whole values of fields, with wildcards. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { text, type Value } from "../eval/value.ts";
import { readPattern } from "../regex/pcre.ts";
import { matchesSql, replaceSql } from "../regex/regex-sql.ts";
import { type Column, extend, fieldValue } from "../relation/relation.ts";
import { bindOnce, mapList, textOf } from "../relation/typed.ts";
import { countWildcards, matchingColumns } from "../relation/wildcards.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

interface Replacement {
  from: string;
  to: string;
}

export const replace = defineCommand({
  name: "replace",
  kind: "streaming",
  parse(reader) {
    const replacements = [readReplacement(reader)];
    while (!reader.atEnd() && !reader.keyword("in")) {
      reader.symbol(",");
      replacements.push(readReplacement(reader));
    }
    const fields = reader.fields();
    return { replacements, fields };
  },
  compile({ replacements, fields }, input) {
    const columns = matchingColumns(input, fields.length === 0 ? ["*"] : fields);
    const ranked = byPrecedence(replacements);
    const changes = columns
      .filter((column) => canMatch(column, replacements))
      .map((column): [string, Value] => [column.name, replaceValue(fieldValue(column), ranked)]);
    return extend(input, new Map(changes));
  },
});

function readReplacement(reader: ArgumentReader): Replacement {
  const from = reader.text("a value to replace");
  if (!reader.keyword("with"))
    reader.fail("Usage: replace [orig_str WITH new_str]+ [IN field1, field2, ...].");
  const to = reader.text("a value to replace with");
  const wildcards = countWildcards(to);
  if (wildcards > 0 && wildcards !== countWildcards(from)) {
    reader.fail("Wildcards and their replacements must have a matching number of '*' characters.");
  }
  return { from, to };
}

/** Sorts by precedence: exact ones first, the latest leading; then those with wildcards, the longest leading. */
function byPrecedence(replacements: readonly Replacement[]): Replacement[] {
  const isExact = ({ from }: Replacement) => countWildcards(from) === 0;
  const length = ({ from }: Replacement) => from.replaceAll("*", "").length;
  const wild = replacements
    .filter((replacement) => !isExact(replacement))
    .sort((a, b) => length(b) - length(a));
  return [...replacements.filter(isExact).reverse(), ...wild];
}

/** Whether any replacement can match: values of numeric columns are never words. */
function canMatch({ type }: Column, replacements: readonly Replacement[]): boolean {
  return type === "text" || replacements.some(({ from }) => /^[*+\-.\deE]*$/.test(from));
}

function replaceValue(value: Value, replacements: readonly Replacement[]): Value {
  const texts = textOf(value);
  const one = (single: Sql) => bindOnce(single, (given) => replaceText(given, replacements));
  return { ...text(value.multi ? mapList(texts, one) : one(texts)), multi: value.multi, loose: true };
}

function replaceText(given: Sql, replacements: readonly Replacement[]): Sql {
  const branches = replacements.map(({ from, to }) => {
    if (countWildcards(from) === 0) return sql`WHEN ${given} = ${from} THEN CAST(${to} AS VARCHAR)`;
    const pattern = readPattern(`(?s)^${from.split("*").map(escapeRegex).join("(.*)")}$`);
    return sql`WHEN ${matchesSql(given, pattern)} THEN ${replaceSql(given, pattern, sql`NULL`, backreferences(to))}`;
  });
  return sql`CASE ${joined(branches, " ")} ELSE ${given} END`;
}

function escapeRegex(literal: string): string {
  return literal.replace(/[\\^$.+?()[\]{}|/]/g, "\\$&");
}

/** Turns each `*` into a backreference. */
function backreferences(to: string): string {
  let group = 0;
  return to.replace(/[\\*]/g, (char) => (char === "*" ? `\\${++group}` : "\\\\"));
}
