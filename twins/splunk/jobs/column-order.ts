/** In which order results show their fields. */
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
export function orderedColumns<Column extends { readonly name: string }>(
  columns: readonly Column[],
  pipeline: Pick<Pipeline, "commands">,
): readonly Column[] {
  if (shapesRows(pipeline)) return columns;
  return [...columns].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
