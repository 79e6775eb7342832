/** `filldown`: fills missing values with the last preceding one. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import {
  type DeferredColumns,
  deferredOf,
  passthroughItems,
  passthroughNames,
  ROW,
  unusedName,
} from "../relation/deferred-columns.ts";
import { isLarge } from "../relation/order.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { type Column, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { matchingColumns } from "../relation/wildcards.ts";

export const filldown = defineCommand({
  name: "filldown",
  kind: "stateful",
  parse: (reader) => ({ names: reader.fields() }),
  async compile({ names }, input, context) {
    const candidates = names.length === 0 ? input.columns : matchingColumns(input, names);
    if (!isLarge(input)) return fillRows(input, candidates);
    const columns = await withGaps(
      input,
      candidates.filter(({ nonNull: present }) => !present),
      context,
    );
    const deferred = deferredOf(input);
    const isPlain = deferred?.passthrough.every((column) => column === ROW) ?? false;
    return deferred !== undefined && isPlain && columns.length > MAX_CARRIED_VALUES
      ? fillDeferred(input, columns, deferred)
      : fillRows(input, columns);
  },
});

/** Up to this many fields pass their values along; beyond it, the numbers of the rows that have the values. */
const MAX_CARRIED_VALUES = 3;

function fillRows(input: Relation, columns: readonly Column[]): Relation {
  const changes = columns.map((column) => {
    const value = fieldValue(column);
    return [column.name, { ...value, sql: lastValue(value.sql, input) }] as const;
  });
  return extend(input, new Map(changes));
}

/** The value of this row, or of the last preceding row that has one. */
function lastValue(value: Sql, { order }: Relation): Sql {
  return sql`last_value(${value} IGNORE NULLS) OVER (${orderByClause(order)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
}

/** The fields that some rows have and others lack: only these need a window over all rows. */
async function withGaps(
  input: Relation,
  columns: readonly Column[],
  context: SearchContext,
): Promise<readonly Column[]> {
  if (columns.length === 0) return [];
  const counts = columns.map(({ column }) => sql`count(${identifier(column)})`);
  const names = ["rows", ...columns.map((_, index) => `c${index}`)];
  const items = [raw("count(*)"), ...counts].map(
    (count, index) => sql`${count} AS ${identifier(names[index] ?? "")}`,
  );
  const { rows } = await context.run(
    {
      select: sql`SELECT ${joined(items, ", ")} FROM (${input.select}) AS r`,
      columns: names.map((name) => ({ name, column: name, type: "number", multi: false })),
      order: [],
      kind: "report",
    },
    1,
  );
  const [all = 0, ...present] = (rows[0] ?? []).map(Number);
  return columns.filter((_, index) => {
    const count = present[index] ?? 0;
    return count > 0 && count < all;
  });
}

/**
 * Late materialization: finds for each event and field the number of the event that provides the value, which is small however long
 * the values are. Values are read only for the events that are shown.
 */
function fillDeferred(input: Relation, columns: readonly Column[], deferred: DeferredColumns): Relation {
  const row = identifier(ROW);
  const names = passthroughNames(deferred, columns.length);
  // A window buffers all columns that it reads, so it gets row numbers instead of values.
  const own = columns.map(({ column }, index) => ({
    column: `#at${index}`,
    value: sql`CASE WHEN ${identifier(column)} IS NOT NULL THEN CAST(${row} AS INTEGER) END`,
  }));
  const marked = sql`SELECT ${prunableColumns(own, [raw("*")])} FROM (${input.select}) AS r`;
  const places = own.map(({ column }, index) => ({
    column: names[index] ?? "",
    value: lastValue(identifier(column), input),
  }));
  const withSources = sql`SELECT ${prunableColumns(places, [raw("*")])} FROM (${marked}) AS r`;
  const hidden = [...deferred.passthrough, ...names].map((column) => ({ column, value: identifier(column) }));
  const result = input.columns.map((column) => {
    const index = columns.indexOf(column);
    return { ...column, index, column: index < 0 ? column.column : unusedColumn(column, input) };
  });
  const values = result.map(({ column, index }) => {
    const value = identifier(columns[index]?.column ?? column);
    return { column, value: index < 0 ? value : lastValue(value, input) };
  });
  const keys = input.order.map(({ column }) => identifier(column));
  const of = sql`SELECT ${prunableColumns([...values, ...hidden], keys)} FROM (${withSources}) AS r`;
  const select = (found: Sql) => {
    const sources = unusedName("#sources", deferred.select(found));
    const passthrough = passthroughItems(deferred).map(({ value }) => value);
    const wanted = joined(
      names.map((name) => identifier(name)),
      ", ",
    );
    const items = result.map(({ column, index }) => {
      const from = index < 0 ? raw("w") : raw(`s${index}`);
      return { column, value: sql`${from}.${identifier(columns[index]?.column ?? column)}` };
    });
    const joins = names.map((name, index) => {
      const alias = raw(`s${index}`);
      return sql`LEFT JOIN ${sources} AS ${alias} ON k.${identifier(name)} = ${alias}.${row}`;
    });
    const read = sql`SELECT DISTINCT unnest([${wanted}]) AS ${row} FROM (${found}) AS f`;
    return sql`WITH ${sources} AS MATERIALIZED (${deferred.select(sql`SELECT CAST(${row} AS BIGINT) AS ${row} FROM (${read}) AS f WHERE ${row} IS NOT NULL`)})
      SELECT ${prunableColumns(items, [sql`w.${row}`])} FROM (${deferred.select(sql`SELECT ${joined(passthrough, ", ")} FROM (${found}) AS f`)}) AS w
      JOIN (${found}) AS k ON w.${row} = k.${row} ${joined(joins, " ")}`;
  };
  return {
    ...input,
    select: of,
    columns: result.map(({ index: _, ...column }) => column),
    deferred: { of, passthrough: [...deferred.passthrough, ...names], select },
  };
}

/** A new column name: unread columns are pruned by name, and inner SELECTs still read the unfilled column under the old one. */
function unusedColumn({ column }: Column, { columns }: Relation): string {
  const taken = new Set(columns.map((one) => one.column.toLowerCase()));
  let name = column;
  while (taken.has(name.toLowerCase())) name += "~";
  return name;
}
