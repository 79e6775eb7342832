/** What is looked up in a table for the values of rows: one row for each combination of values, with what was found. */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { LookupTable } from "../context/knowledge.ts";
import { cachedRelationOf, type RowField, type Rows } from "../relation/rows.ts";

/** Rows that a value finds unless the definition says otherwise. */
const MAX_MATCHES = 1_000;

export interface Wanted {
  /** What the search calls the table. */
  name: string;
  table: LookupTable;
  /** Fields of the table that are compared, in the order of the values. */
  keys: readonly string[];
  /** Fields of the table that are given. */
  outputs: readonly string[];
}

/** A SELECT of `#key0…`, each combination once, and of `#value0…`. */
export interface LookedUp {
  select: Sql;
  values: readonly Pick<RowField, "type" | "multi">[];
}

export function maxMatches({ definition: { maxMatches: max, timeField } = {} }: LookupTable): number {
  return Math.min(MAX_MATCHES, Math.max(1, max ?? (timeField === undefined ? MAX_MATCHES : 1)));
}

/** Whether values are compared one to one, so that the table alone says what each of them finds. */
export function isExact({ table: { definition = {} }, keys }: Wanted): boolean {
  const { matchType = {}, timeField } = definition;
  return timeField === undefined && keys.every((key) => (matchType[key] ?? "EXACT") === "EXACT");
}

/** What was made of a table, for as long as it is this same table: by keys and outputs. */
const made = new WeakMap<LookupTable, Map<string, { values: LookedUp["values"]; rows: Rows }>>();
/** Combinations of keys and outputs that are kept of a table. */
const MOST_MADE = 8;

/** The table by what its rows are found with, as texts; in lower case if case does not count. */
export function exactMatches(wanted: Wanted): LookedUp {
  const { name, table, keys, outputs } = wanted;
  const ofTable = made.get(table) ?? new Map();
  made.set(table, ofTable);
  const columns = JSON.stringify([keys, outputs]);
  const known = ofTable.get(columns) ?? matchesOf(wanted);
  if (ofTable.size >= MOST_MADE) ofTable.clear();
  ofTable.set(columns, known);
  const { select } = cachedRelationOf(known.rows, `lookup ${name} ${columns}`);
  return { select, values: known.values };
}

function matchesOf(wanted: Wanted): { values: LookedUp["values"]; rows: Rows } {
  const { table, keys, outputs } = wanted;
  const folded = table.definition?.caseSensitive === false;
  const keyAt = positions(table, keys);
  const outputAt = positions(table, outputs);
  const max = maxMatches(table);
  const found = new Map<string, { key: string[]; rows: ResultValue[][] }>();
  for (const row of table.rows) {
    const key = keyAt.map((index) => row[index] ?? null);
    if (key.includes(null)) continue;
    const texts = key.map((value) => (folded ? textOf(value).toLowerCase() : textOf(value)));
    const name = texts.join("\0");
    const entry = found.get(name) ?? { key: texts, rows: [] };
    if (entry.rows.length < max) entry.rows.push(outputAt.map((index) => row[index] ?? null));
    found.set(name, entry);
  }
  const entries = [...found.values()].map(({ key, rows }) => ({
    key,
    values: outputs.map((_, index) =>
      rows.flatMap((row) => row[index] ?? []).filter((value) => value !== ""),
    ),
  }));
  const values = outputs.map((output, index) => ({
    type: table.fields.find(({ name }) => name === output)?.type ?? "text",
    multi: entries.some((entry) => (entry.values[index]?.length ?? 0) > 1),
  }));
  return tableOf(
    keys.length,
    values,
    entries.map((entry) => [
      ...entry.key,
      ...values.map(({ multi }, index): ResultValue => {
        const list = entry.values[index] ?? [];
        if (list.length === 0) return null;
        return multi ? list : (list[0] ?? null);
      }),
    ]),
  );
}

/** Rows that are here as what was looked up. */
function tableOf(keys: number, values: LookedUp["values"], rows: Rows["rows"]) {
  const fields: RowField[] = [
    ...Array.from(
      { length: keys },
      (_, index) => ({ name: `#key${index}`, type: "text", multi: false }) as const,
    ),
    ...values.map((value, index) => ({ ...value, name: `#value${index}` })),
  ];
  return { values, rows: { fields, rows } };
}

function positions(table: Rows, names: readonly string[]): number[] {
  return names.map((name) => table.fields.findIndex((field) => field.name === name));
}

function textOf(value: ResultValue): string {
  return Array.isArray(value) ? value.map(textOf).join("\n") : String(value);
}
