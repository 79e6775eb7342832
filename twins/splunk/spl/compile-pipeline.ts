/** A pipeline as one relation: each command makes the next from the one before. */

import { compileCommand } from "./command.ts";
import type { SearchContext } from "./context/search-context.ts";
import { materialize, materializeIfDeep } from "./relation/materialize.ts";
import { noRows, type Relation } from "./relation/relation.ts";
import type { Pipeline } from "./syntax/ast.ts";

/** Commands, and characters of SQL, that become one statement; DuckDB takes no statement that is nested deeper. */
const statementCommands = 100;
const statementLength = 500_000;
/** Who looks on while a pipeline is compiled, which can take as long as its subsearches. */
export interface CompileWatch {
  /** Called before each command, which waits for it. */
  before(): Promise<void>;
  after(relation: Relation): void;
}

/** @param input rows that the pipeline goes on with (`appendpipe`); none at the start of a search */
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
    if (compiled < statementCommands && lengthOf(relation) < statementLength) continue;
    relation = await materialize(relation, context, `${statementCommands} commands`);
    compiled = 0;
  }
  return relation;
}

function lengthOf({ select }: Relation): number {
  return select.texts.reduce((sum, text) => sum + text.length, 0);
}
