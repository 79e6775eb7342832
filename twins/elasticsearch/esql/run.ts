/** Runs an ES|QL query over the store. */

import { joined, list, type Sql, sql } from "@offhook/log-store/sql";
import type { LogStore, QueryResult } from "@offhook/log-store/store/log-store";
import type { AliasTargets } from "../indices/aliases.ts";
import { lenientOptions, type Selection, select } from "../indices/expression.ts";
import type { FieldViews } from "../indices/visible-fields.ts";
import { showSql } from "../query/show-sql.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import type { FromCommand, Source } from "./commands/from.ts";
import { type CompiledEsql, compileEsql, DEFAULT_LIMIT } from "./compile.ts";
import { verificationError } from "./errors.ts";
import { constantOf, type FoldedConstants, UnfoldedConstant } from "./folding.ts";
import type { Param } from "./params.ts";
import { type DataType, outputType } from "./types.ts";
import { outputValue } from "./values.ts";

export interface EsqlRequest {
  query: string;
  params: readonly Param[];
  /**
   * Compiles the request's Query DSL to a condition over `documents AS d`. @param selection the indices that it filters
   */
  filter: ((selection: Selection) => Sql) | undefined;
}

export interface EsqlContext {
  store: LogStore;
  fidelity: Fidelity;
  /** The sandbox's time in milliseconds since the Unix epoch. */
  nowMs: number;
  /** Names of all indices. */
  indices: readonly string[];
  aliases: AliasTargets;
  fieldViews: FieldViews;
  signal: AbortSignal;
}

export interface EsqlResult {
  columns: { name: string; type: string }[];
  /** Row by row, converted by `outputValue`. */
  values: unknown[][];
  /** Texts of the `Warning` headers. */
  warnings: string[];
  /** The statements, for the journal. */
  statements: string[];
}

/** @throws VendorError, among them UnrecognisedEsql, which a translator may take over */
export async function runEsql(request: EsqlRequest, context: EsqlContext): Promise<EsqlResult> {
  const { store, fidelity, nowMs, signal } = context;
  const selected = new Map<string, SelectedEvents>();
  const source = {
    select(command: FromCommand): SelectedEvents {
      const names = command.sources.map(({ text }) => text).join(",");
      const known = selected.get(names) ?? selectEvents(names, request, context);
      selected.set(names, known);
      return known;
    },
  };
  const compiled = await compileWithConstants(
    (folded) =>
      compileEsql(request.query, request.params, { fields: store.fields, fidelity, nowMs }, source, folded),
    context,
  );
  const { rows } = await store.query(compiled.statement, { signal });
  const failures = compiled.checks ? await runChecks(compiled.checks, context) : [];
  const limit = compiled.unlimited ? [`No limit defined, adding default limit of [${DEFAULT_LIMIT}]`] : [];
  return {
    ...resultOf(compiled.columns, rows),
    warnings: [...limit, ...failures],
    statements: [compiled.statement, ...(compiled.checks ? [compiled.checks.statement] : [])].map(showSql),
  };
}

export function resultOf(
  columns: readonly { name: string; type: DataType }[],
  rows: QueryResult["rows"],
): Pick<EsqlResult, "columns" | "values"> {
  return {
    columns: columns.map(({ name, type }) => ({ name, type: outputType(type) })),
    values: rows.map((row) => columns.map(({ type }, index) => outputValue(row[index] ?? null, type))),
  };
}

async function runChecks(
  { statement, expressions }: NonNullable<CompiledEsql["checks"]>,
  { store, signal }: EsqlContext,
): Promise<string[]> {
  const { rows } = await store.query(statement, { signal });
  const warnings = new Set<string>();
  for (const [number, message] of rows) {
    const expression = expressions[Number(number)];
    if (!expression) continue;
    const where = `Line ${expression.at.line}:${expression.at.column}: `;
    warnings.add(
      `${where}evaluation of [${expression.text}] failed, treating result as ${expression.treatedAs}. Only first 20 failures recorded.`,
    );
    warnings.add(where + String(message));
  }
  return [...warnings];
}

/** Bounds the constants that DuckDB folds: each takes a statement of its own. */
const MAX_FOLDED = 64;

async function compileWithConstants(
  compile: (folded: FoldedConstants) => CompiledEsql,
  { store, signal }: EsqlContext,
): Promise<CompiledEsql> {
  const folded: FoldedConstants = new Map();
  for (;;) {
    try {
      return compile(folded);
    } catch (error) {
      if (!(error instanceof UnfoldedConstant)) throw error;
      const { rows } = await store.query(error.statement, { signal });
      const constant = constantOf(rows[0]?.[0] ?? null, error.type);
      if (!constant || folded.size >= MAX_FOLDED)
        throw illegalArgument(
          `the query has a constant of type [${error.type}] that cannot be computed here`,
        );
      folded.set(error.key, constant);
    }
  }
}

type SelectedEvents = ReturnType<Source["select"]>;

function selectEvents(
  expression: string,
  { filter }: EsqlRequest,
  { store, indices, aliases, fieldViews, fidelity, nowMs }: EsqlContext,
): SelectedEvents {
  const selection = selectNames(expression, { known: indices, aliases, fidelity, nowMs });
  const conditions: Sql[] = filter ? [sql`(${filter(selection)})`] : [];
  if (!selection.everything) conditions.push(sql`d."_index" IN ${list([...selection.names])}`);
  const predicate = conditions.length === 0 ? sql`TRUE` : joined(conditions, " AND ");
  return { predicate, fields: fieldViews.of(store.fields, selection).fields };
}

type Selected = ReturnType<typeof select>;

function selectNames(expression: string, context: Parameters<typeof select>[2]): Selected {
  const selection = selectExisting(expression, context);
  if (!selection) throw verificationError([`line -1:-1: Unknown index [${expression}]`]);
  // When only some of the names exist, the vendor refuses the missing ones as it reads.
  return context.fidelity === "vendor" ? select(expression, lenientOptions, context) : selection;
}

/** The existing names of an expression; `undefined` when none exists. */
function selectExisting(expression: string, context: Parameters<typeof select>[2]): Selected | undefined {
  try {
    const selection = select(expression, { ...lenientOptions, ignoreUnavailable: true }, context);
    return selection.everything || selection.names.length > 0 ? selection : undefined;
  } catch (error) {
    if (!(error instanceof VendorError) || error.status !== 404) throw error;
    return undefined;
  }
}
