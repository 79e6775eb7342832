/** `contingency`: how often each value of one field meets each of another, as a matrix. */
import { Slices } from "../../../datasets/slices.ts";
import { sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { columnOf, fieldValue, type Relation } from "../relation.ts";
import { relationOf } from "../rows.ts";
import type { SearchContext } from "../search-context.ts";
import { boolean, count, number, text } from "../syntax/option-types.ts";
import { listOf, textOf } from "../typed.ts";

/** Values of a field when no other limit is given. */
const maxValues = 1_000;

const optionTypes = {
  ...{ maxrows: count, maxcols: count, minrowcover: number, mincolcover: number },
  ...{ usetotal: boolean, totalstr: text },
};

interface Pair {
  row: string;
  column: string;
  count: number;
}

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
      rows: { limit: options.maxrows || maxValues, cover: options.minrowcover ?? 1 },
      columns: { limit: options.maxcols || maxValues, cover: options.mincolcover ?? 1 },
      total: options.usetotal === false ? undefined : (options.totalstr ?? "TOTAL"),
    };
  },
  async compile({ row, column, rows, columns, total }, input, context) {
    const pairs = await pairsOf(input, row, column, context);
    const rowValues = mostFrequent(pairs, "row", rows);
    const columnValues = mostFrequent(pairs, "column", columns);
    const lines = await linesOf(pairs, rowValues, columnValues, context);
    return relationOf(withTotals({ row, columnValues, lines, total }));
  },
});

async function pairsOf(
  input: Relation,
  row: string,
  column: string,
  context: SearchContext,
): Promise<Pair[]> {
  const [first, second] = [columnOf(input, row), columnOf(input, column)];
  if (first === undefined || second === undefined) return [];
  const texts = [first, second].map((one) => {
    const value = fieldValue(one);
    return listOf({ ...value, type: "text", sql: textOf(value) });
  });
  const [a = sql`NULL`, b = sql`NULL`] = texts;
  const unrolled = sql`SELECT a, unnest(b) AS b FROM (SELECT unnest(${a}) AS a, ${b} AS b FROM (${input.select}) AS r) AS s`;
  const select = sql`SELECT a, b, count(*) AS n FROM (${unrolled}) AS t WHERE b IS NOT NULL GROUP BY a, b`;
  const field = (name: string, type: "text" | "number") => ({ name, column: name, type, multi: false });
  const relation: Relation = {
    select,
    columns: [field("a", "text"), field("b", "text"), field("n", "number")],
    order: [
      { column: "n", direction: "DESC" },
      { column: "a", direction: "ASC" },
      { column: "b", direction: "ASC" },
    ],
    kind: "report",
  };
  const { rows } = await context.run(relation, maxValues * maxValues);
  return rows.map(([one, other, n]) => ({ row: String(one), column: String(other), count: Number(n) }));
}

/** A line for each value of the rows, with a count for each of the columns: as many as a million, made in slices. */
async function linesOf(
  pairs: readonly Pair[],
  rowValues: readonly string[],
  columnValues: readonly string[],
  context: SearchContext,
): Promise<(string | number)[][]> {
  const counts = new Map(rowValues.map((value) => [value, new Map<string, number>()]));
  for (const pair of pairs) counts.get(pair.row)?.set(pair.column, pair.count);
  const slices = new Slices();
  const lines: (string | number)[][] = [];
  for (const [value, met] of counts) {
    lines.push([value, ...columnValues.map((other) => met.get(other) ?? 0)]);
    if (!slices.over) continue;
    await slices.next();
    context.throwIfOver();
  }
  return lines;
}

/** The most frequent values that together are as large a part of all as asked for. */
function mostFrequent(
  pairs: readonly Pair[],
  side: "row" | "column",
  { limit, cover }: { limit: number; cover: number },
): string[] {
  const totals = new Map<string, number>();
  for (const pair of pairs) totals.set(pair[side], (totals.get(pair[side]) ?? 0) + pair.count);
  const all = pairs.reduce((sum, pair) => sum + pair.count, 0);
  const values: string[] = [];
  let covered = 0;
  for (const [value, times] of [...totals].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) {
    if (values.length >= limit || covered >= cover * all) break;
    values.push(value);
    covered += times;
  }
  return values;
}

function withTotals({
  row,
  columnValues,
  lines,
  total,
}: {
  row: string;
  columnValues: readonly string[];
  lines: (string | number)[][];
  total: string | undefined;
}) {
  const field = (name: string, type: "text" | "number") => ({ name, type, multi: false }) as const;
  const fields = [field(row, "text"), ...columnValues.map((name) => field(name, "number"))];
  if (total === undefined) return { fields, rows: lines };
  const sums = columnValues.map((_, index) => lines.reduce((sum, line) => sum + Number(line[index + 1]), 0));
  const rows = [...lines, [total, ...sums]].map((line) => [
    ...line,
    line.slice(1).reduce<number>((sum, value) => sum + Number(value), 0),
  ]);
  return { fields: [...fields, field(total, "number")], rows };
}
