/** `mvcombine`: combines rows that agree in all fields but one into a row with a multi-value. */
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
      ? combineAll(input, column, delimiter)
      : combineDeferred(input, column, delimiter, deferred);
  },
});

/** Groups all rows by the other fields. */
function combineAll(input: Relation, column: Column, delimiter: string): Relation {
  const rows = withRowNumber(input);
  const all = collectValues(column, fieldValue(column).sql, raw('"#order0"'));
  const others = otherColumns(input, column);
  const from = sql`SELECT ${joined([...others, sql`${all} AS "#values"`, sql`min("#order0") AS "#order0"`], ", ")} FROM (${rows.select}) AS r GROUP BY ${groupByKeys(others)}`;
  return select(from, combinedOutputs(input, column, delimiter, raw('"#values"')), rows.order, "report");
}

/**
 * For many events. Few of them usually agree with another, so a hash of their texts finds the candidates; only these are compared by
 * a digest of all fields.
 */
function combineDeferred(
  input: Relation,
  column: Column,
  delimiter: string,
  deferred: DeferredColumns,
): Relation {
  const [values = "#values"] = passthroughNames(deferred, 1);
  const own = identifier(values);
  const row = identifier(ROW);
  const [marks, members, groups] = ["#marks", "#alike", "#groups"].map((name) =>
    unusedName(name, deferred.select(input.select)),
  ) as [Sql, Sql, Sql];
  const others = otherColumns(input, column);
  const compared = others.map((value) => ({ value, direction: "ASC" as const }));
  const digest = compared.length === 0 ? raw("0") : sql`md5_number(${sortValue(compared)})`;
  const told = columnOf(input, "_raw");
  const mark = told === undefined || told === column ? digest : identifier(told.column);
  const names = [...passthroughItems(deferred), ...input.order].map((one) => identifier(one.column));
  const marked = sql`SELECT ${joined(names, ", ")}, hash(${mark}) AS "#mark" FROM (${input.select}) AS r`;
  const mayAgree = sql`SELECT * FROM ${marks} SEMI JOIN (SELECT "#mark" FROM ${marks} GROUP BY "#mark" HAVING count(*) > 1) AS s USING ("#mark")`;
  const digested = sql`SELECT ${row}, ${digest} AS "#digest", ${fieldValue(column).sql} AS "#value" FROM (${deferred.select(mayAgree)}) AS r`;
  // `r` is joined beside these CTEs, not inside, so that DuckDB can skip its unread columns.
  const agreeing = sql`WITH ${marks} AS MATERIALIZED (SELECT *, row_number() OVER (${orderByClause(input.order)}) AS "#place" FROM (${marked}) AS r),
    ${members} AS MATERIALIZED (SELECT w.*, k."#place" FROM (${digested}) AS w JOIN ${marks} AS k ON w.${row} = k.${row}),
    ${groups} AS MATERIALIZED (SELECT "#digest", arg_min(${row}, "#place") AS "#first",
      ${collectValues(column, raw('"#value"'), raw('"#place"'))} AS "#values" FROM ${members} GROUP BY "#digest" HAVING count(*) > 1)
    SELECT m.${row}, m."#isFirst", g."#values"
    FROM (SELECT a.${row}, a.${row} = g."#first" AS "#isFirst" FROM ${members} AS a JOIN ${groups} AS g ON a."#digest" = g."#digest") AS m
      LEFT JOIN ${groups} AS g ON m.${row} = g."#first"`;
  const select = sql`SELECT r.*, a."#values" AS ${own} FROM (${input.select}) AS r
    LEFT JOIN (${agreeing}) AS a ON r.${row} = a.${row} WHERE a.${row} IS NULL OR a."#isFirst"`;
  const rows = { ...input, select, deferred: joinPassthrough(deferred, select, [values]) };
  const list = sql`coalesce(${own}, ${listOf(fieldValue(column))})`;
  return project(rows, combinedOutputs(input, column, delimiter, list), "report");
}

/** Collects the values of several rows in one list. */
function collectValues({ multi }: Column, value: Sql, place: Sql): Sql {
  const list = sql`list(${value} ORDER BY ${place}) FILTER (${value} IS NOT NULL)`;
  return multi ? sql`flatten(${list})` : list;
}

function otherColumns({ columns }: Relation, column: Column): Sql[] {
  return columns.filter((other) => other !== column).map((other) => identifier(other.column));
}

function combinedOutputs(input: Relation, { name, type }: Column, delimiter: string, values: Sql): Output[] {
  const value = { type, multi: true, sql: values } as const;
  return outputsOf(input).map((output) =>
    output.name === name ? { ...output, name, value, delimiter } : output,
  );
}

/** GROUP BY keys; a constant when there are none, which yields no group for no rows. */
function groupByKeys(columns: readonly Sql[]): Sql {
  return columns.length === 0 ? sql`CAST(NULL AS INTEGER)` : joined(columns, ", ");
}
