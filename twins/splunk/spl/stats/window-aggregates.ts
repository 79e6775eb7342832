/** Aggregates over windows, as new fields. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Typed } from "../relation/typed.ts";
import { type Aggregation, compileAggregation } from "./aggregation.ts";
import type { Site } from "./site.ts";

/** The row number that `numbered` adds. */
export const rowNumber = raw('"#order0"');

/** @param keys of the BY fields: rows that lack one get no aggregates */
export async function aggregateOverWindow(
  aggregations: readonly Aggregation[],
  site: Site,
  keys: readonly Sql[],
): Promise<Map<string, Typed>> {
  const fields = new Map<string, Typed>();
  for (const aggregation of aggregations) {
    const value = await compileAggregation(aggregation, site);
    const present = sql`CASE WHEN ${allPresent(keys)} THEN ${value.sql} END`;
    fields.set(aggregation.name, keys.length === 0 ? value : { ...value, sql: present });
  }
  return fields;
}

export function allPresent(keys: readonly Sql[]): Sql {
  if (keys.length === 0) return raw("true");
  return sql`(${joined(
    keys.map((key) => sql`${key} IS NOT NULL`),
    " AND ",
  )})`;
}
