/** In which order results show their fields. */
import type { Rows } from "../spl/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";

/** Commands that put a row together: its fields are in the order in which they do. */
const shaping: ReadonlySet<string> = new Set([
  ...[
    "chart",
    "contingency",
    "fields",
    "fieldsummary",
    "from",
    "gentimes",
    "inputlookup",
    "loadjob",
    "metadata",
  ],
  ...[
    "rare",
    "rest",
    "savedsearch",
    "stats",
    "table",
    "timechart",
    "top",
    "transpose",
    "tstats",
    "typeahead",
  ],
  ...["untable", "xyseries", "addcoltotals", "appendcols"],
]);

export function shapesRows({ commands }: Pick<Pipeline, "commands">): boolean {
  return commands.some(({ name }) => shaping.has(name));
}

/** The columns as results show them: by their names, unless a command has put them in an order. */
export function orderedColumns(rows: Rows, pipeline: Pick<Pipeline, "commands">): Rows {
  if (shapesRows(pipeline)) return rows;
  const order = rows.fields
    .map(({ name }, index) => ({ name, index }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  if (order.every(({ index }, place) => index === place)) return rows;
  return {
    fields: order.flatMap(({ index }) => rows.fields[index] ?? []),
    rows: rows.rows.map((row) => order.map(({ index }) => row[index] ?? null)),
  };
}
