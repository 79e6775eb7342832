/** A pipeline as one relation: each command makes the next from the one before. */
import { noRows, type Relation } from "./relation.ts";
import { relationOf } from "./rows.ts";
import type { SearchContext } from "./search-context.ts";
import { SplError } from "./spl-error.ts";
import type { Pipeline } from "./syntax/ast.ts";

/** Commands, and characters of SQL, that become one statement; DuckDB takes no statement that is nested deeper. */
const statementCommands = 100;
const statementLength = 500_000;
/** Rows that may be kept here between two statements. */
const maxKeptRows = 200_000;

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
    relation = await command.compile(relation, context);
    watch?.after(relation);
    compiled++;
    if (compiled < statementCommands && lengthOf(relation) < statementLength) continue;
    relation = await kept(relation, context);
    compiled = 0;
  }
  return relation;
}

function lengthOf({ select }: Relation): number {
  return select.texts.reduce((sum, text) => sum + text.length, 0);
}

/** Runs what there is, and goes on with the rows. */
async function kept(relation: Relation, context: SearchContext): Promise<Relation> {
  const rows = await context.run(relation, maxKeptRows + 1);
  if (rows.rows.length <= maxKeptRows) return relationOf(rows, relation.kind);
  throw new SplError(
    `The search is too long for its rows: after ${statementCommands} commands there may be ${maxKeptRows} of them.`,
    "run",
  );
}
