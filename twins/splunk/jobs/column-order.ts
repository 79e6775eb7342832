/** The order in which results show their fields. */
import type { Pipeline } from "../spl/syntax/ast.ts";

/** Commands that compose rows, and so set the order of the fields. */
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

/** Orders columns by name, unless a command has set their order. */
export function orderColumns<Column extends { readonly name: string }>(
  columns: readonly Column[],
  pipeline: Pick<Pipeline, "commands">,
): readonly Column[] {
  if (shapesRows(pipeline)) return columns;
  return [...columns].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
