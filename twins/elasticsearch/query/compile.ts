/** The Query DSL of Elasticsearch 8.15: from the JSON of a request to SQL. */

import { type Sql, sql } from "@offhook/log-store/sql";
import { ContentParser } from "../json/content-parser.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import { shardFailure } from "../vendor/shard-failure.ts";
import { compileClause } from "./compile/compile-clause.ts";
import { Compiler } from "./compile/compiler.ts";
import { isOutside } from "./compile/dates.ts";
import { type Matcher, matchingRows, scoredRows } from "./compile/matcher.ts";
import { dropEmptyRanges, rangesOf, rewriteOnShard } from "./compile/shard-rewrite.ts";
import { compileForGroups } from "./compile-groups.ts";
import type { CompiledQuery, DroppedClause, QueryContext } from "./compiled-query.ts";
import { ShardError, UnrecognisedQuery } from "./errors.ts";
import { grammar } from "./syntax/clauses.ts";
import { Parser } from "./syntax/parser.ts";
import type { Query } from "./syntax/query.ts";

/** A query before a shard has seen it. */
export interface ParsedQuery {
  readonly query: Query;
  readonly dropped: readonly DroppedClause[];
}

/**
 * Compiles the `query` of a request.
 * @param json as it was read; `undefined` matches every document
 * @throws UnrecognisedQuery for a top-level shape that a translator may know
 * @throws VendorError for a query that the vendor refuses
 */
export function compileQuery(json: unknown, context: QueryContext): CompiledQuery {
  if (json === undefined) return compileParsed({ kind: "match_all", boost: 1, name: undefined }, context, []);
  return onShard(context.index, () => {
    const { query, dropped } = parseQuery(json, context);
    return compileParsed(query, context, dropped);
  });
}

/** Parses a query without its fields. @throws VendorError for a syntax error */
export function parseQuery(
  json: unknown,
  { fidelity, locate }: Pick<QueryContext, "fidelity" | "locate">,
): ParsedQuery {
  const content = new ContentParser(json, locate);
  content.next();
  const parser = new Parser(grammar, fidelity, content);
  return { query: parser.topLevel(), dropped: parser.dropped };
}

/**
 * Compiles a query inside another part of a request. Its errors lack the wrapper that the search's own query has.
 * @throws VendorError
 */
export function compileInner({ query, dropped }: ParsedQuery, context: QueryContext): CompiledQuery {
  const { groups: _, ...whole } = context;
  try {
    return compileParsed(query, whole, dropped);
  } catch (error) {
    if (!(error instanceof ShardError)) throw error;
    const { cause } = error;
    const inner = cause.reason === `${WRAPPER}${cause.caused_by?.reason}` ? cause.caused_by : undefined;
    throw shardFailure(inner ?? cause, context.index);
  }
}

/** Prefix of the reason when the search's own query fails. */
const WRAPPER = "failed to create query: ";

/**
 * Parses the query at the current token for its syntax errors alone. `compileQuery` reports the errors of a shard and the shapes
 * that a translator may know.
 * @throws VendorError
 */
export function checkQuery(content: ContentParser, fidelity: Fidelity): void {
  const { depth } = content;
  try {
    new Parser(grammar, fidelity, content).topLevel();
  } catch (error) {
    if (!(error instanceof UnrecognisedQuery || error instanceof ShardError)) throw error;
    content.leave(depth);
  }
}

/** Runs the work of a shard, and reports its `ShardError` as that index's failure. @throws VendorError */
function onShard<Result>(index: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ShardError ? shardFailure(error.cause, index) : error;
  }
}

/** URL parameters of a search that belong to `q`. */
export interface QueryStringParameters {
  /** `df` */
  defaultField?: string;
  /** `default_operator` */
  defaultOperator?: string;
  analyzer?: string;
  analyzeWildcard?: boolean;
  lenient?: boolean;
}

/** Compiles the query of `?q=`. @throws VendorError */
export function compileQueryString(
  text: string,
  { defaultField, defaultOperator, analyzer, analyzeWildcard, lenient }: QueryStringParameters,
  context: QueryContext,
): CompiledQuery {
  const body = {
    query: text,
    ...(defaultField !== undefined && { default_field: defaultField }),
    ...(defaultOperator !== undefined && { default_operator: defaultOperator }),
    ...(analyzer !== undefined && { analyzer }),
    ...(analyzeWildcard !== undefined && { analyze_wildcard: analyzeWildcard }),
    ...(lenient !== undefined && { lenient }),
  };
  // The text is not in the request's JSON, so errors have no position.
  const { locate: _, ...placeless } = context;
  return compileQuery({ query_string: body }, placeless);
}

function compileParsed(
  query: Query,
  context: QueryContext,
  dropped: readonly DroppedClause[],
): CompiledQuery {
  const { groups } = context;
  return groups
    ? compileForGroups(groups, (group) => {
        const { fields, allFields, names } = group;
        const [index = context.index] = names;
        return onShard(index, () =>
          compileForIndex(query, { ...context, fields, allFields, index }, dropped),
        );
      })
    : compileForIndex(query, context, dropped);
}

function compileForIndex(
  query: Query,
  context: QueryContext,
  dropped: readonly DroppedClause[],
): CompiledQuery {
  const rewritten = context.fidelity === "vendor" ? rewriteOnShard(query, context) : query;
  const { compiler, matcher } = compileOnShard(rewritten, context);
  const { predicate } = matcher;
  return {
    predicate,
    matches: sql`SELECT _row FROM (${matchingRows(matcher)})`,
    // Lazy: most callers need no scores.
    get scored() {
      const rows = onShard(context.index, () => scoredRows(matcher));
      return sql`SELECT _row, CAST(score AS DOUBLE) AS score FROM (${rows})`;
    },
    get constantScore() {
      const score = onShard(context.index, () => matcher.score);
      return score.kind === "uniform" ? constantOf(score.value) : undefined;
    },
    dropped,
    marks: compiler.marks,
    named: compiler.named,
    async explain(ask, row) {
      const matched = await ask(sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${predicate}`);
      return matched.length === 0 ? undefined : matcher.explain(ask, row);
    },
  };
}

interface CompiledOnShard {
  compiler: Compiler;
  matcher: Matcher;
}

function compileOnShard(query: Query, context: QueryContext): CompiledOnShard {
  try {
    return compileRewritten(query, context);
  } catch (error) {
    if (!(error instanceof ShardError) || context.fidelity === "specification") throw error;
    // The vendor's shard drops date ranges outside its documents before it compiles: a clause that fails may be among the dropped.
    const empty = rangesOf(query).filter((range) => isOutside(context, range));
    if (empty.length === 0) throw error;
    return compileRewritten(
      dropEmptyRanges(query, (range) => empty.includes(range)),
      context,
    );
  }
}

function compileRewritten(query: Query, context: QueryContext): CompiledOnShard {
  const compiler = new Compiler(compileClause, context);
  const matcher = context.scores === false ? compiler.compileUnscored(query, 1) : compiler.compile(query, 1);
  // The checks see every document that matches, also those below a `min_score`.
  if (!context.validated)
    compiler.check(() => new Compiler(compileClause, context, "ignored").compile(query, 1).predicate);
  return { compiler, matcher };
}

function constantOf(score: number | Sql): number | Sql {
  return typeof score === "number" ? score : sql`CAST(${score} AS DOUBLE)`;
}
