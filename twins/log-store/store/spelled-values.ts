/** The values of a field as its events spell them, for a column that becomes text. */
import { spelledValue } from "../field-name.ts";
import type { Field } from "../fields.ts";
import { identifier, raw, type Sql, sql, textLiteral } from "../sql.ts";
import { JsonMistake, readLeaves } from "./json-leaves.ts";
import { defineRowFunction } from "./program-functions.ts";

/** The text of a field's values, from its column and `_source`. Without parameters, for a statement that changes a column takes none. */
export function spelledText(field: Field): Sql {
  const column = identifier(field.column);
  if (field.multi) {
    const cast = sql`list_transform(${column}, value -> CAST(value AS VARCHAR))`;
    return sql`CASE WHEN ${column} IS NOT NULL THEN coalesce(${spelledList(field, sql`len(${column})`)}, ${cast}) END`;
  }
  // DuckDB's own JSON reader is much faster, and keeps the spelling of all values but decimals.
  const own = field.type === "double" ? sql`${spelledList(field, raw("1"))}[1]` : spelledValue(field.name);
  return sql`CASE WHEN ${column} IS NOT NULL THEN coalesce(${own}, CAST(${column} AS VARCHAR)) END`;
}

/** The spelled values; NULL where the event has another number of values of the field. */
function spelledList({ name }: Field, count: Sql): Sql {
  const call = leavesOf(raw("_source"), sql`CAST(${count} AS VARCHAR)`, sql`CAST(${name} AS VARCHAR)`);
  return sql`from_json(${withoutParameters(call)}, '["VARCHAR"]')`;
}

const leavesOf = defineRowFunction("store.spelled", (source, count, name) => {
  if (source === null) return null;
  try {
    const leaves = readLeaves(source).find((field) => field.name === name)?.leaves ?? [];
    return leaves.length === Number(count) ? JSON.stringify(leaves.map(({ text }) => text)) : null;
  } catch (error) {
    if (error instanceof JsonMistake) return null;
    throw error;
  }
});

/** @param statement whose values are names of fields and functions */
function withoutParameters({ texts, values }: Sql): Sql {
  return raw(
    texts.reduce((text, next, index) => `${text}${textLiteral(String(values[index - 1])).text}${next}`),
  );
}
