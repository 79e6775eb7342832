/** Lookups: the matches in a table for each distinct combination of values. */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { LookupTable } from "../context/knowledge.ts";
import { cachedRelationOf, type RowField, type Rows } from "../relation/rows.ts";

/** Default and upper limit of matches for one combination. */
const MAX_MATCHES = 1_000;

export interface LookupRequest {
  /** Name of the table in the search. */
  name: string;
  table: LookupTable;
  /** Fields of the table to compare, in the order of the values. */
  keys: readonly string[];
  /** Fields of the table to return. */
  outputs: readonly string[];
}

/** `select` gives `#key0…`, each combination once, and `#value0…`. */
export interface LookupMatches {
  select: Sql;
  values: readonly Pick<RowField, "type" | "multi">[];
}

export function maxMatches({ definition: { maxMatches: max, timeField } = {} }: LookupTable): number {
  return Math.min(MAX_MATCHES, Math.max(1, max ?? (timeField === undefined ? MAX_MATCHES : 1)));
}

/** Whether all keys match by equality, so that the matches depend on the table alone. */
export function isExact({ table: { definition = {} }, keys }: LookupRequest): boolean {
  const { matchType = {}, timeField } = definition;
  return timeField === undefined && keys.every((key) => (matchType[key] ?? "EXACT") === "EXACT");
}

/** Matches of a table by keys and outputs, for the lifetime of the table. */
const matchesByTable = new WeakMap<
  LookupTable,
  Map<string, { values: LookupMatches["values"]; rows: Rows }>
>();
/** Most combinations of keys and outputs cached for one table. */
const MAX_CACHED_MATCHES = 8;

/** Matches by equality. Keys are texts, in lower case if the lookup ignores case. */
export function matchExactly(wanted: LookupRequest): LookupMatches {
  const { name, table, keys, outputs } = wanted;
  const ofTable = matchesByTable.get(table) ?? new Map();
  matchesByTable.set(table, ofTable);
  const columns = JSON.stringify([keys, outputs]);
  const known = ofTable.get(columns) ?? matchesOf(wanted);
  if (ofTable.size >= MAX_CACHED_MATCHES) ofTable.clear();
  ofTable.set(columns, known);
  const { select } = cachedRelationOf(known.rows, `lookup ${name} ${columns}`);
  return { select, values: known.values };
}

function matchesOf(wanted: LookupRequest): { values: LookupMatches["values"]; rows: Rows } {
  const { table, keys, outputs } = wanted;
  const folded = table.definition?.caseSensitive === false;
  const keyAt = positionsOf(table, keys);
  const outputAt = positionsOf(table, outputs);
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

function tableOf(keys: number, values: LookupMatches["values"], rows: Rows["rows"]) {
  const fields: RowField[] = [
    ...Array.from(
      { length: keys },
      (_, index) => ({ name: `#key${index}`, type: "text", multi: false }) as const,
    ),
    ...values.map((value, index) => ({ ...value, name: `#value${index}` })),
  ];
  return { values, rows: { fields, rows } };
}

function positionsOf(table: Rows, names: readonly string[]): number[] {
  return names.map((name) => table.fields.findIndex((field) => field.name === name));
}

function textOf(value: ResultValue): string {
  return Array.isArray(value) ? value.map(textOf).join("\n") : String(value);
}
