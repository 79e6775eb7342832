/** `contingency`: a matrix that counts how often values of two fields occur together. */
import { Slices } from "@offhook/log-store/slices";
import { identifier, jsonParameter, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultCursor, ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import { listOf, textOf } from "../relation/typed.ts";
import { boolean, count, number, text } from "../syntax/option-types.ts";

/** Default limit of values for each field. */
const MAX_VALUES = 1_000;

const optionTypes = {
  ...{ maxrows: count, maxcols: count, minrowcover: number, mincolcover: number },
  ...{ usetotal: boolean, totalstr: text },
};

/** A row value, and its count with each column value. */
type Line = [string, ...number[]];

export const contingency = defineCommand({
  name: "contingency",
  aliases: ["counttable", "ctable"],
  kind: "report",
  parse(reader) {
    const before = reader.options(optionTypes);
    const row = reader.field("the field for the rows");
    reader.symbol(",");
    const column = reader.field("the field for the columns");
    const options = { ...before, ...reader.options(optionTypes) };
    return {
      row,
      column,
      rows: { limit: options.maxrows || MAX_VALUES, cover: options.minrowcover ?? 1 },
      columns: { limit: options.maxcols || MAX_VALUES, cover: options.mincolcover ?? 1 },
      total: options.usetotal === false ? undefined : (options.totalstr ?? "TOTAL"),
    };
  },
  async compile({ row, column, rows, columns, total }, input, context) {
    const select = pairsOf(input, row, column);
    if (select === undefined)
      return relationOf(await withTotals({ row, columnValues: [], lines: [], total }, context));
    const pairs = await context.openCursor(select);
    try {
      const rowValues = await mostFrequent(pairs, "a", rows, context);
      const columnValues = await mostFrequent(pairs, "b", columns, context);
      const lines = await linesOf(pairs, rowValues, columnValues, context);
      return relationOf(await withTotals({ row, columnValues, lines, total }, context));
    } finally {
      await pairs.drop();
    }
  },
});

/** Counts of value pairs as `a`, `b` and `n`. There may be as many pairs as events, so they stay in the database. */
function pairsOf(input: Relation, row: string, column: string): Sql | undefined {
  const [first, second] = [columnOf(input, row), columnOf(input, column)];
  if (first === undefined || second === undefined) return undefined;
  const texts = [first, second].map((one) => {
    const value = fieldValue(one);
    return listOf({ ...value, type: "text", sql: textOf(value) });
  });
  const [a = sql`NULL`, b = sql`NULL`] = texts;
  const unrolled = sql`SELECT a, unnest(b) AS b FROM (SELECT unnest(${a}) AS a, ${b} AS b FROM (${input.select}) AS r) AS s`;
  return sql`SELECT a, b, count(*) AS n FROM (${unrolled}) AS t WHERE b IS NOT NULL GROUP BY a, b`;
}

/** Queries the pairs. @param columns in order; names of numbers begin with `n` */
async function rowsOfPairs(
  pairs: ResultCursor,
  select: Sql,
  columns: readonly string[],
  order: Relation["order"],
  context: SearchContext,
): Promise<readonly ResultValue[][]> {
  const relation: Relation = {
    select,
    columns: columns.map((name) => ({
      name,
      column: name,
      type: name.startsWith("n") ? "number" : "text",
      multi: false,
    })),
    order,
    kind: "report",
  };
  return (await context.runOn(pairs, relation, MAX_VALUES * MAX_VALUES)).rows;
}

/** The most frequent values of one side that together cover the requested share. */
async function mostFrequent(
  pairs: ResultCursor,
  side: "a" | "b",
  { limit, cover }: { limit: number; cover: number },
  context: SearchContext,
): Promise<string[]> {
  const sums = sql`SELECT ${identifier(side)} AS v, sum(n) AS n FROM ${pairs.from} AS p GROUP BY ${identifier(side)}`;
  const top = sql`SELECT v, n, sum(n) OVER () AS "nAll" FROM (${sums}) AS s ORDER BY n DESC, v LIMIT CAST(${limit} AS BIGINT)`;
  const order = [
    { column: "n", direction: "DESC" },
    { column: "v", direction: "ASC" },
  ] as const;
  const values: string[] = [];
  let covered = 0;
  for (const [value, times, all] of await rowsOfPairs(pairs, top, ["v", "n", "nAll"], order, context)) {
    if (covered >= cover * Number(all)) break;
    values.push(String(value));
    covered += Number(times);
  }
  return values;
}

/** The matrix, one line for each row value. Built in slices, because it may have a million cells. */
async function linesOf(
  pairs: ResultCursor,
  rowValues: readonly string[],
  columnValues: readonly string[],
  context: SearchContext,
): Promise<Line[]> {
  const counts = new Map(rowValues.map((value) => [value, new Map<string, number>()]));
  const within = (values: readonly string[]) =>
    sql`IN (SELECT unnest(from_json(${jsonParameter(values)}, '["VARCHAR"]')))`;
  const matching = sql`SELECT a, b, n FROM ${pairs.from} AS p WHERE a ${within(rowValues)} AND b ${within(columnValues)}`;
  const slices = new Slices();
  for (const [row, column, times] of await rowsOfPairs(pairs, matching, ["a", "b", "n"], [], context)) {
    counts.get(String(row))?.set(String(column), Number(times));
    if (slices.over) await slices.next();
  }
  const lines: Line[] = [];
  for (const [value, matching] of counts) {
    lines.push([value, ...columnValues.map((other) => matching.get(other) ?? 0)]);
    if (!slices.over) continue;
    await slices.next();
    context.throwIfOver();
  }
  return lines;
}

async function withTotals(
  {
    row,
    columnValues,
    lines,
    total,
  }: {
    row: string;
    columnValues: readonly string[];
    lines: readonly Line[];
    total: string | undefined;
  },
  context: SearchContext,
) {
  const field = (name: string, type: "text" | "number") => ({ name, type, multi: false }) as const;
  const fields = [field(row, "text"), ...columnValues.map((name) => field(name, "number"))];
  if (total === undefined) return { fields, rows: [...lines] };
  const sums = columnValues.map(() => 0);
  const slices = new Slices();
  const rows: Line[] = [];
  const withSum = ([value, ...counts]: Line): Line => [
    value,
    ...counts,
    counts.reduce((sum, one) => sum + one, 0),
  ];
  for (const line of lines) {
    rows.push(withSum(line));
    for (const index of sums.keys()) sums[index] = (sums[index] ?? 0) + Number(line[index + 1]);
    if (!slices.over) continue;
    await slices.next();
    context.throwIfOver();
  }
  return { fields: [...fields, field(total, "number")], rows: [...rows, withSum([total, ...sums])] };
}
