/** `mvcombine`: one row for those that agree in all fields but one, whose values it has. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import {
  type DeferredColumns,
  deferredOf,
  joinPassthrough,
  passthroughItems,
  passthroughNames,
  ROW,
  unusedName,
} from "../relation/deferred-columns.ts";
import { withRowNumber } from "../relation/order.ts";
import { orderByClause, sortValue } from "../relation/order-keys.ts";
import {
  type Column,
  columnOf,
  fieldValue,
  type Output,
  outputsOf,
  project,
  type Relation,
  select,
} from "../relation/relation.ts";
import { listOf } from "../relation/typed.ts";
import { readFieldAndOptions } from "../syntax/fields-and-options.ts";
import { text } from "../syntax/option-types.ts";

export const mvcombine = defineCommand({
  name: "mvcombine",
  kind: "report",
  parse(reader) {
    const { name, options } = readFieldAndOptions(reader, { delim: text });
    return { name, delimiter: options.delim ?? " " };
  },
  compile({ name, delimiter }, input) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const deferred = deferredOf(input);
    return deferred === undefined
      ? grouped(input, column, delimiter)
      : merged(input, column, delimiter, deferred);
  },
});

/** All rows at once, by the fields that they are to agree in. */
function grouped(input: Relation, column: Column, delimiter: string): Relation {
  const rows = withRowNumber(input);
  const all = valuesOf(column, fieldValue(column).sql, raw('"#order0"'));
  const others = othersOf(input, column);
  const from = sql`SELECT ${joined([...others, sql`${all} AS "#values"`, sql`min("#order0") AS "#order0"`], ", ")} FROM (${rows.select}) AS r GROUP BY ${grouping(others)}`;
  return select(from, combined(input, column, delimiter, raw('"#values"')), rows.order, "report");
}

/**
 * Of very many events few agree with another, as a rule: which ones may is told by their texts alone. Only these are compared by all
 * fields, by a digest of them; the others stay as they are.
 */
function merged(input: Relation, column: Column, delimiter: string, deferred: DeferredColumns): Relation {
  const [values = "#values"] = passthroughNames(deferred, 1);
  const own = identifier(values);
  const row = identifier(ROW);
  const [marks, members, groups] = ["#marks", "#alike", "#groups"].map((name) =>
    unusedName(name, deferred.select(input.select)),
  ) as [Sql, Sql, Sql];
  const others = othersOf(input, column);
  const compared = others.map((value) => ({ value, direction: "ASC" as const }));
  const digest = compared.length === 0 ? raw("0") : sql`md5_number(${sortValue(compared)})`;
  const told = columnOf(input, "_raw");
  const mark = told === undefined || told === column ? digest : identifier(told.column);
  const names = [...passthroughItems(deferred), ...input.order].map((one) => identifier(one.column));
  const marked = sql`SELECT ${joined(names, ", ")}, hash(${mark}) AS "#mark" FROM (${input.select}) AS r`;
  const mayAgree = sql`SELECT * FROM ${marks} SEMI JOIN (SELECT "#mark" FROM ${marks} GROUP BY "#mark" HAVING count(*) > 1) AS s USING ("#mark")`;
  const digested = sql`SELECT ${row}, ${digest} AS "#digest", ${fieldValue(column).sql} AS "#value" FROM (${deferred.select(mayAgree)}) AS r`;
  // What DuckDB is to leave out of `r` when nobody reads it stands beside these tables, not below them.
  const agreeing = sql`WITH ${marks} AS MATERIALIZED (SELECT *, row_number() OVER (${orderByClause(input.order)}) AS "#place" FROM (${marked}) AS r),
    ${members} AS MATERIALIZED (SELECT w.*, k."#place" FROM (${digested}) AS w JOIN ${marks} AS k ON w.${row} = k.${row}),
    ${groups} AS MATERIALIZED (SELECT "#digest", arg_min(${row}, "#place") AS "#first",
      ${valuesOf(column, raw('"#value"'), raw('"#place"'))} AS "#values" FROM ${members} GROUP BY "#digest" HAVING count(*) > 1)
    SELECT m.${row}, m."#isFirst", g."#values"
    FROM (SELECT a.${row}, a.${row} = g."#first" AS "#isFirst" FROM ${members} AS a JOIN ${groups} AS g ON a."#digest" = g."#digest") AS m
      LEFT JOIN ${groups} AS g ON m.${row} = g."#first"`;
  const select = sql`SELECT r.*, a."#values" AS ${own} FROM (${input.select}) AS r
    LEFT JOIN (${agreeing}) AS a ON r.${row} = a.${row} WHERE a.${row} IS NULL OR a."#isFirst"`;
  const rows = { ...input, select, deferred: joinPassthrough(deferred, select, [values]) };
  const list = sql`coalesce(${own}, ${listOf(fieldValue(column))})`;
  return project(rows, combined(input, column, delimiter, list), "report");
}

/** The values of several rows in one list. */
function valuesOf({ multi }: Column, value: Sql, place: Sql): Sql {
  const list = sql`list(${value} ORDER BY ${place}) FILTER (${value} IS NOT NULL)`;
  return multi ? sql`flatten(${list})` : list;
}

function othersOf({ columns }: Relation, column: Column): Sql[] {
  return columns.filter((other) => other !== column).map((other) => identifier(other.column));
}

function combined(input: Relation, { name, type }: Column, delimiter: string, values: Sql): Output[] {
  const value = { type, multi: true, sql: values } as const;
  return outputsOf(input).map((output) =>
    output.name === name ? { ...output, name, value, delimiter } : output,
  );
}

/** All rows are one group when there is no other field; without rows there is none. */
function grouping(columns: readonly Sql[]): Sql {
  return columns.length === 0 ? sql`CAST(NULL AS INTEGER)` : joined(columns, ", ");
}
