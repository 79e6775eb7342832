/** Compiles a pipeline into one relation. */

import { compileCommand } from "./command.ts";
import type { SearchContext } from "./context/search-context.ts";
import { materialize, materializeIfDeep } from "./relation/materialize.ts";
import { noRows, type Relation } from "./relation/relation.ts";
import type { Pipeline } from "./syntax/ast.ts";

/** Most commands and characters of SQL in one statement: DuckDB limits how deep a statement may nest. */
const MAX_STATEMENT_COMMANDS = 100;
const MAX_STATEMENT_CHARACTERS = 500_000;

/** Observes the compilation of a pipeline, which can take as long as its subsearches. */
export interface CompileWatch {
  /** Called and awaited before each command. */
  before(): Promise<void>;
  after(relation: Relation): void;
}

/** @param input rows the pipeline starts from (`appendpipe`); none at the start of a search @throws SplError */
export async function compilePipeline(
  { commands }: Pick<Pipeline, "commands">,
  context: SearchContext,
  input: Relation = noRows,
  watch?: CompileWatch,
): Promise<Relation> {
  let relation = input;
  let compiled = 0;
  for (const command of commands) {
    await watch?.before();
    relation = await materializeIfDeep(await compileCommand(command, relation, context), context);
    watch?.after(relation);
    compiled++;
    if (compiled < MAX_STATEMENT_COMMANDS && lengthOf(relation) < MAX_STATEMENT_CHARACTERS) continue;
    relation = await materialize(relation, context, `${MAX_STATEMENT_COMMANDS} commands`);
    compiled = 0;
  }
  return relation;
}

function lengthOf({ select }: Relation): number {
  return select.texts.reduce((sum, text) => sum + text.length, 0);
}
