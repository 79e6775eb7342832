/** What families of functions share. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, listOf, mapList, textOf, widen } from "../../relation/typed.ts";
import { doubleOf, singleText } from "../arithmetic.ts";
import { nothing, text, type Value } from "../value.ts";
import type { Family, PlainFunction, Use } from "./declaration.ts";

export type Entry = Omit<PlainFunction, "kind" | "family">;

export function family(name: Family, entries: readonly Entry[]): readonly PlainFunction[] {
  return entries.map((entry) => ({ ...entry, kind: "plain", family: name }));
}

/** A number, as DOUBLE; NULL for what is none. */
export function numeric(value: Value, { fail }: Use): Sql {
  if (value.type === "boolean" || typeof value.constant === "string") fail();
  return doubleOf(value);
}

/** One text. */
export function textual(value: Value, { fail }: Use): Sql {
  if (value.type === "boolean") fail();
  return singleText(value);
}

/** A function of texts that works on each value of a multi-value. */
export function eachText(value: Value, { fail }: Use, body: (one: Sql) => Sql): Value {
  if (value.isNull) return nothing;
  if (value.type === "boolean") fail();
  const texts = textOf(value);
  return value.multi ? text(mapList(texts, body), true) : text(body(texts));
}

/** A text that is the same in every row. */
export function constantText(value: Value | undefined): string | undefined {
  return typeof value?.constant === "string" ? value.constant : undefined;
}

/** All values in one LIST, in their order; NULL when there is none. */
export function allValues(values: readonly Value[]): Value {
  const known = values.filter(({ isNull }) => !isNull);
  if (known.length === 0) return nothing;
  const type = known.every((value) => value.type === "number") ? "number" : "text";
  const loose = type === "text" && known.some((value) => value.loose || value.type === "number");
  const [first, ...others] = known.map((value) => widen(value, type, true));
  if (first !== undefined && others.length === 0) return { type, multi: true, loose, sql: first };
  const lists = known.map((value) => sql`coalesce(${widen(value, type, true)}, [])`);
  return { type, multi: true, loose, sql: filled(sql`list_concat(${joined(lists, ", ")})`) };
}

/** A LIST, or NULL when it is empty. */
export function filled(list: Sql): Sql {
  return bindOnce(list, (one) => sql`CASE WHEN len(${one}) > 0 THEN ${one} END`);
}

/** The values as a LIST of texts. */
export function textList(value: Value): Sql {
  const texts: Value = { ...value, type: "text", sql: textOf(value) };
  return listOf(texts);
}

/** A DOUBLE or anything else that a program function takes as text. */
export function asText(value: Sql): Sql {
  return sql`CAST(${value} AS VARCHAR)`;
}

/** No text and no list has more places; DuckDB fails beyond. */
const FARTHEST = raw("2147483647");

/** A whole number for a position or a length; BIGINT. */
export function whole(value: Sql): Sql {
  return sql`CAST(least(greatest(trunc(${value}), -${FARTHEST}), ${FARTHEST}) AS BIGINT)`;
}

export const falseSql = raw("FALSE");
