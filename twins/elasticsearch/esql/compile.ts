/** Compiles a query to one statement and the columns of its answer. */
import type { Sql } from "@offhook/log-store/sql";
import { compileCommand } from "./commands/command.ts";
import type { Source } from "./commands/from.ts";
import type { EsqlFields } from "./compiler.ts";
import type { Span } from "./errors.ts";
import { ExpressionCompiler } from "./expression-compiler.ts";
import type { FoldedConstants } from "./folding.ts";
import { type Param, Params } from "./params.ts";
import { parse } from "./parser.ts";
import type { DataType } from "./types.ts";

/** The limit of a query without one, and the limit of any query. */
export const DEFAULT_LIMIT = 1000;
export const MAX_LIMIT = 10_000;

export interface CompiledEsql {
  columns: { name: string; type: DataType; multi: boolean }[];
  statement: Sql;
  /** Yields the `number` of a check and its `message`; absent when nothing can fail. */
  checks: { statement: Sql; expressions: { at: Span; text: string; treatedAs: string }[] } | undefined;
  /** Whether only the default limits the rows. */
  unlimited: boolean;
}

/**
 * @param folded values of constant expressions that DuckDB has computed
 * @throws VendorError, among them UnrecognisedEsql, which a translator may take over
 * @throws UnfoldedConstant for a constant that is missing in `folded`: compute it and compile again
 */
export function compileEsql(
  query: string,
  params: readonly Param[],
  context: EsqlFields,
  source: Source,
  folded: FoldedConstants = new Map(),
): CompiledEsql {
  const commands = parse(query, new Params(params));
  const compiler = new ExpressionCompiler(query, context, folded);
  for (const command of commands) {
    compileCommand(compiler, command, source);
    // Later commands would only report names that this one failed to make.
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
