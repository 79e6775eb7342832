/** Finds all rules of its table that a refused row breaks: Postgres names the first alone. */

import type { Problem } from "@offhook/platform/world/world";
import pg from "pg";
import { type ForeignKey, type Queryable, type Table, worldName } from "./catalogue.ts";
import type { TextRow } from "./checked-rows.ts";
import { decodeValue } from "./values.ts";

/** @param all every row of the body: a reference to one of them counts as valid, even if that row was refused itself */
export async function findBrokenRules(
  client: Queryable,
  row: TextRow,
  error: pg.DatabaseError,
  all: TextRow[],
): Promise<Problem[]> {
  const rules = rulesOf(row, all);
  const broken = await firstFailing(client, row, rules);
  if (broken.length > 0) return broken;
  return rules.length > 0 && error.code === foreignKeyViolation ? [] : [problemOf(error, row)];
}

/**
 * The rules that rows would break, before they are written. It skips tables with triggers, since a trigger may correct a row.
 */
export async function predictProblems(client: Queryable, rows: TextRow[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const row of rows.filter(({ table }) => table.triggers.length === 0)) {
    problems.push(...(await firstFailing(client, row, rulesOf(row, rows))));
  }
  return problems;
}

const foreignKeyViolation = "23503";

/** A rule as an expression over one row `r`: true when the row satisfies it. */
interface Rule {
  sql: string;
  columns: string[];
  words: string;
}

function rulesOf(row: TextRow, all: TextRow[]): Rule[] {
  const { table } = row;
  const given = new Set([...row.texts.keys()].map(({ name }) => name));
  const complete = (columns: string[]) =>
    columns.every((column) => given.has(column) && textOf(row, column) !== null);
  return [
    ...table.checks
      .filter(({ columns }) => columns.some((column) => given.has(column)))
      .map(({ columns, sql }) => ({ columns, sql: `(${sql}) IS NOT FALSE`, words: `must satisfy ${sql}` })),
    ...table.uniques
      .filter(({ columns }) => complete(columns))
      .map(({ columns }) => ({
        columns,
        sql: `NOT EXISTS (SELECT FROM ${table.sql} AS other WHERE ${pairs("other", columns, columns)})`,
        words: `a row with this ${columns.join(", ")} exists already`,
      })),
    ...table.foreignKeys
      .filter((key) => complete(key.columns) && !isInBody(row, key, all))
      .map((key) => ({
        columns: key.columns,
        sql: `EXISTS (SELECT FROM ${key.target} AS other WHERE ${pairs("other", key.targetColumns, key.columns)})`,
        words: `there is no such row in ${key.table} (${key.targetColumns.join(", ")})`,
      })),
  ];
}

function pairs(other: string, otherColumns: string[], columns: string[]): string {
  return otherColumns
    .map(
      (column, i) => `${other}.${pg.escapeIdentifier(column)} = r.${pg.escapeIdentifier(columns[i] ?? "")}`,
    )
    .join(" AND ");
}

function textOf(row: TextRow, columnName: string): string | null | undefined {
  for (const [column, text] of row.texts) if (column.name === columnName) return text;
  return undefined;
}

function givenValue(row: TextRow, columnName: string): unknown {
  for (const [{ name, value }, text] of row.texts) if (name === columnName) return decodeValue(value, text);
  return undefined;
}

function isInBody(row: TextRow, key: ForeignKey, all: TextRow[]): boolean {
  return all.some(
    (other) =>
      other !== row &&
      other.table.name === key.table &&
      key.targetColumns.every((column, i) => textOf(other, column) === textOf(row, key.columns[i] ?? "")),
  );
}

async function firstFailing(client: Queryable, row: TextRow, rules: Rule[]): Promise<Problem[]> {
  if (rules.length === 0) return [];
  const columns = row.table.columns.map((column, i) => ({ column, parameter: `$${i + 1}` }));
  const { rows } = await client.query<boolean[]>({
    text: `SELECT ${rules.map(({ sql }) => sql).join(", ")}
             FROM (SELECT ${columns.map(({ column, parameter }) => `${parameter}::text::${column.castName} AS ${pg.escapeIdentifier(column.name)}`).join(", ")}) AS r`,
    values: columns.map(({ column }) => row.texts.get(column) ?? null),
    rowMode: "array",
  });
  return rules.flatMap(({ columns: [column, ...more], words }, i) =>
    rows[0]?.[i] === false
      ? [
          {
            table: row.table.name,
            row: row.index,
            ...(column && more.length === 0 && { column, value: givenValue(row, column) }),
            rule: words,
          },
        ]
      : [],
  );
}

/** A refusal in Postgres' own words. */
export function problemOf(error: pg.DatabaseError, row?: { table: Table; index?: number }): Problem {
  const named = error.table === undefined ? "" : worldName(error.schema ?? "public", error.table);
  return {
    table: row?.table.name ?? named,
    ...(row?.index !== undefined && { row: row.index }),
    ...(error.column !== undefined && { column: error.column }),
    rule: [error.message, error.detail].filter(Boolean).join(": "),
  };
}
