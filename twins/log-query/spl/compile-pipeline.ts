/** A pipeline as one relation: each command makes the next from the one before. */
import { raw } from "../../datasets/sql.ts";
import type { Relation } from "./relation.ts";
import type { SearchContext } from "./search-context.ts";
import type { Pipeline } from "./syntax/ast.ts";

/** What the first command of a pipeline begins with. */
export const noRows: Relation = {
  select: raw('SELECT 0 AS "#order0" WHERE false'),
  columns: [],
  order: [{ column: "#order0", direction: "ASC" }],
  kind: "report",
};

/** @param input rows that the pipeline goes on with (`appendpipe`); none at the start of a search */
export async function compilePipeline(
  { commands }: Pick<Pipeline, "commands">,
  context: SearchContext,
  input: Relation = noRows,
): Promise<Relation> {
  let relation = input;
  for (const command of commands) relation = await command.compile(relation, context);
  return relation;
}
