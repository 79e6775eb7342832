/** Helpers for the declarations of functions. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, listOf, mapList, textOf, widen } from "../../relation/typed.ts";
import { doubleOf, singleText } from "../arithmetic.ts";
import { asList, nothing, text, type Value } from "../value.ts";
import type { Family, PlainFunction, Use } from "./declaration.ts";

export type Entry = Omit<PlainFunction, "kind" | "family">;

export function family(name: Family, entries: readonly Entry[]): readonly PlainFunction[] {
  return entries.map((entry) => ({ ...entry, kind: "plain", family: name }));
}

/** A numeric argument as DOUBLE; NULL if it is no number. @throws SplError for constant texts and booleans */
export function numberArgument(value: Value, { fail }: Use): Sql {
  if (value.type === "boolean" || typeof value.constant === "string") fail();
  return doubleOf(value);
}

/** A text argument; NULL for a multi-value of several values. @throws SplError for booleans */
export function textArgument(value: Value, { fail }: Use): Sql {
  if (value.type === "boolean") fail();
  return singleText(value);
}

/** Applies a function of texts to each value of a multi-value. */
export function mapText(value: Value, { fail }: Use, body: (one: Sql) => Sql): Value {
  if (value.isNull) return nothing;
  if (value.type === "boolean") fail();
  const texts = textOf(value);
  return value.multi ? asList(text(mapList(texts, body))) : text(body(texts));
}

/** The text of a constant, `undefined` for anything else. */
export function constantText(value: Value | undefined): string | undefined {
  return typeof value?.constant === "string" ? value.constant : undefined;
}

/** All values in one LIST, in order; NULL if there is none. */
export function allValues(values: readonly Value[]): Value {
  const known = values.filter(({ isNull }) => !isNull);
  if (known.length === 0) return nothing;
  const type = known.every((value) => value.type === "number") ? "number" : "text";
  const loose = type === "text" && known.some((value) => value.loose || value.type === "number");
  const [first, ...others] = known.map((value) => widen(value, { type, multi: true }));
  if (first !== undefined && others.length === 0) return { type, multi: true, loose, sql: first };
  const lists = known.map((value) => sql`coalesce(${widen(value, { type, multi: true })}, [])`);
  return { type, multi: true, loose, sql: nullIfEmpty(sql`list_concat(${joined(lists, ", ")})`) };
}

/** Replaces an empty LIST by NULL. */
export function nullIfEmpty(list: Sql): Sql {
  return bindOnce(list, (one) => sql`CASE WHEN len(${one}) > 0 THEN ${one} END`);
}

/** The values as a LIST of texts. */
export function textList(value: Value): Sql {
  const texts: Value = { ...value, type: "text", sql: textOf(value) };
  return listOf(texts);
}

/** Any value as VARCHAR, the type of all arguments of row functions. */
export function asText(value: Sql): Sql {
  return sql`CAST(${value} AS VARCHAR)`;
}

/** Largest position in a text or list; DuckDB fails beyond. */
const MAX_POSITION = raw("2147483647");

/** Clamps a number to a position or length, as BIGINT. */
export function toPosition(value: Sql): Sql {
  return sql`CAST(least(greatest(trunc(${value}), -${MAX_POSITION}), ${MAX_POSITION}) AS BIGINT)`;
}
