/** GROUP BY: one row for each group. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { OrderKey } from "../relation/order-keys.ts";
import { columnOf, fieldValue, type Output, type Relation, select } from "../relation/relation.ts";
import { numberOf, type Typed, textOf } from "../relation/typed.ts";
import { type Aggregation, compileAggregation } from "./aggregation.ts";
import { rangeStart } from "./number-bins.ts";
import type { Site } from "./site.ts";

/** A BY field and its value in the rows. */
export interface Group {
  name: string;
  /** `undefined`: no row has the field. */
  value: Typed | undefined;
  /** Whether rows without a value form a group of their own; else they are dropped. */
  optional?: boolean;
  /** Whether values are ranges such as `10-20`, which sort by their first number. */
  ranges?: boolean;
}

export interface GroupedRows {
  /** Columns `#g0`, … for the groups and `#a0`, … for the aggregations; unordered. */
  select: Sql;
  groups: { name: string; value: Typed; ranges?: boolean }[];
  aggregates: Output[];
}

export interface GroupOptions {
  /** Whether a multi-value counts each distinct value once. */
  distinctValues: boolean;
}

export function groupsOf(names: readonly string[], input: Relation): Group[] {
  return [...new Set(names)].map((name) => {
    const column = columnOf(input, name);
    return { name, value: column === undefined ? undefined : fieldValue(column) };
  });
}

/** Unnests multi-values among the groups: one row for each value. */
export function unnestGroups(
  input: Relation,
  groups: readonly Group[],
  { distinctValues }: GroupOptions,
): { input: Relation; groups: Group[] } {
  let select = input.select;
  const single = groups.map((group, index): Group => {
    const { value, optional } = group;
    if (value === undefined || !value.multi) return group;
    const column = identifier(`#m${index}`);
    const list = distinctValues ? sql`list_distinct(${value.sql})` : value.sql;
    const values = optional ? sql`coalesce(${list}, [NULL])` : list;
    select = sql`SELECT *, unnest(${values}) AS ${column} FROM (${select}) AS r`;
    return { ...group, value: { ...value, multi: false, sql: column } };
  });
  return { input: { ...input, select }, groups: single };
}

/** Aggregates the input by groups; without groups there is one row. @param site over the input's rows */
export async function groupRows(
  input: Relation,
  groups: readonly Group[],
  aggregations: readonly Aggregation[],
  site: Site,
): Promise<GroupedRows> {
  const keys = groups.map(({ value }) => value?.sql ?? raw("CAST(NULL AS VARCHAR)"));
  const values = await Promise.all(aggregations.map((aggregation) => compileAggregation(aggregation, site)));
  const items = [
    ...keys.map((key, index) => sql`${key} AS ${groupColumn(index)}`),
    ...values.map((value, index) => sql`${value.sql} AS ${aggregateColumn(index)}`),
  ];
  const present = keys.flatMap((key, index) => (groups[index]?.optional ? [] : [sql`${key} IS NOT NULL`]));
  const where = present.length === 0 ? raw("") : sql`WHERE ${joined(present, " AND ")}`;
  const by = keys.length === 0 ? raw("") : sql`GROUP BY ${raw(keys.map((_, index) => index + 1).join(", "))}`;
  const columns = items.length === 0 ? raw('count(*) AS "#none"') : joined(items, ", ");
  return {
    select: sql`SELECT ${columns} FROM (${input.select}) AS r ${where} ${by}`,
    groups: groups.map(({ name, value, ranges = false }, index) => ({
      name,
      ranges,
      value: { type: value?.type ?? "text", multi: false, sql: groupColumn(index) },
    })),
    aggregates: aggregations.map(({ name }, index) => ({
      name,
      value: {
        type: values[index]?.type ?? "text",
        multi: values[index]?.multi ?? false,
        sql: aggregateColumn(index),
      },
    })),
  };
}

/** Orders rows by their groups: numerically when all values of a field are numbers, else as text. */
export function orderByGroups({ select: from, groups, aggregates }: GroupedRows): Relation {
  const keys = groups.flatMap((group) => {
    const { value, ranges } = group;
    if (ranges || value.type === "number") return groupOrderKeys(group);
    const number = numberOf(value);
    const all = sql`bool_and(${number} IS NOT NULL OR ${value.sql} IS NULL) OVER ()`;
    return [sql`CASE WHEN ${all} THEN ${number} END`, value.sql];
  });
  const known = keys.length === 0 ? [raw("0")] : keys;
  const order = known.map((_, index): OrderKey => ({ column: `#order${index}`, direction: "ASC" }));
  const places = known.map((key, index) => sql`${key} AS ${identifier(`#order${index}`)}`);
  const outputs: Output[] = [
    ...groups.map((group, index) => ({ ...group, groupRank: index })),
    ...aggregates,
  ];
  const rows = select(from, outputs, order, "report", [], places);
  return groups.length === 0 ? { ...rows, maxRows: 1 } : rows;
}

/** Sort keys of a group. */
export function groupOrderKeys({ value, ranges }: { value: Typed; ranges?: boolean }): Sql[] {
  return ranges ? [rangeStart(textOf(value)), value.sql] : orderKeysOf(value);
}

/** Sort keys of a value: numbers first, then texts. */
export function orderKeysOf(value: Typed): Sql[] {
  return value.type === "number" ? [value.sql] : [numberOf(value), value.sql];
}

function groupColumn(index: number): Sql {
  return identifier(`#g${index}`);
}

function aggregateColumn(index: number): Sql {
  return identifier(`#a${index}`);
}
