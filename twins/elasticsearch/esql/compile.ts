/** Compiles a query: one statement, and what its answer's columns are. */
import type { Sql } from "@offhook/log-store/sql";
import { compileCommand } from "./commands/command.ts";
import type { Source } from "./commands/from.ts";
import { Compiler, type EsqlFields } from "./compiler.ts";
import type { Span } from "./errors.ts";
import type { FoldedConstants } from "./folding.ts";
import { type Param, Params } from "./params.ts";
import { parse } from "./parser.ts";
import type { DataType } from "./types.ts";

/** Rows of a query that sets no limit, and the most that any gives. */
export const DEFAULT_LIMIT = 1000;
export const MAX_LIMIT = 10_000;

export interface CompiledEsql {
  columns: { name: string; type: DataType; multi: boolean }[];
  statement: Sql;
  /** Yields `number` of a check and `message` of what it found; absent when nothing can fail. */
  checks: { statement: Sql; expressions: { at: Span; text: string; treatedAs: string }[] } | undefined;
  /** Nothing limits the rows but the default. */
  unlimited: boolean;
}

/**
 * @param folded values of constant expressions that have been computed
 * @throws VendorError, of which UnrecognisedEsql is what a translator may take over
 * @throws UnfoldedConstant when the value of a constant expression is missing: compute it and compile again
 */
export function compileEsql(
  query: string,
  params: readonly Param[],
  context: EsqlFields,
  source: Source,
  folded: FoldedConstants = new Map(),
): CompiledEsql {
  const commands = parse(query, new Params(params));
  const compiler = new Compiler(query, context, folded);
  for (const command of commands) {
    compileCommand(compiler, command, source);
    // Names that the next commands would look for in vain are this one's fault.
    if (compiler.problems.anyUnresolved) break;
  }
  compiler.problems.check();
  const { pipeline } = compiler;
  const unlimited = !commands.some(({ kind }) => kind === "limit");
  const at = { line: 1, column: 1, start: 0, end: 0 };
  return {
    columns: pipeline.columns.map(({ name, type, multi }) => ({ name, type, multi })),
    statement: pipeline.statement(
      pipeline.columns.map((column) => compiler.read(column, at)),
      unlimited ? DEFAULT_LIMIT : MAX_LIMIT,
    ),
    checks:
      pipeline.checks.length === 0
        ? undefined
        : {
            statement: pipeline.checkStatement(),
            expressions: pipeline.checks.map(({ at: span, treatedAs }) => ({
              at: span,
              text: compiler.text(span),
              treatedAs,
            })),
          },
    unlimited,
  };
}
