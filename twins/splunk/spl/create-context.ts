/** Creates the context that a search is compiled and run in. */
import { pruneColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql } from "@offhook/log-store/sql";
import { type LogReader, QueryInterrupted, type QueryOptions } from "@offhook/log-store/store/log-store";
import { StoreReader } from "@offhook/log-store/store/store-reader";
import { compilePipeline } from "./compile-pipeline.ts";
import type { EventAccess } from "./context/event-access.ts";
import type { Knowledge } from "./context/knowledge.ts";
import type { SearchContext, SearchLimits } from "./context/search-context.ts";
import { countOf, finalizedMessage, truncatedMessage } from "./context/subsearch-limit.ts";
import { selectFirst } from "./relation/order.ts";
import type { Relation } from "./relation/relation.ts";
import type { Rows } from "./relation/rows.ts";
import { renumberLambdas } from "./relation/typed.ts";
import type { SearchMessage } from "./spl-error.ts";
import type { Pipeline } from "./syntax/ast.ts";
import type { TimeRange } from "./time/time-range.ts";

export interface ContextOptions {
  store: LogReader;
  knowledge: Knowledge;
  nowMs: number;
  timeZone: string;
  range: TimeRange;
  limits: SearchLimits;
  sid: string;
  user: string;
  app: string;
  /** Which events the user may see. Default: all. */
  access?: EventAccess;
  /** Ends every statement of the search. */
  signal: AbortSignal;
  /** How long the whole search may take from now. */
  deadlineMs: number;
  parse(search: string): Pipeline;
  warn(message: SearchMessage): void;
  /** Called with each statement before it runs. */
  ran?(statement: string): void;
  /** Called while a statement runs, with its progress from 0 to 1. */
  progress?(share: number): void;
}

export function createSearchContext(options: ContextOptions): SearchContext {
  const endsAt = performance.now() + options.deadlineMs;
  const { knowledge, nowMs, timeZone, limits, sid, user, app, access } = options;
  const store = withDeadline(options, endsAt);
  const shared = { store, knowledge, nowMs, timeZone, limits, sid, user, app, access };
  const startedAt = performance.now();
  const throwIfOver = () => {
    const after = performance.now() - startedAt;
    if (options.signal.aborted) throw new QueryInterrupted("cancelled", after);
    if (performance.now() > endsAt) throw new QueryInterrupted("deadline", after);
  };
  const warned = new Set<string>();
  const warn = (message: SearchMessage) => {
    if (warned.has(message.text)) return;
    warned.add(message.text);
    options.warn(message);
  };
  const send = <Answer>(
    select: Sql,
    deadlineMs: number,
    query: (statement: Sql, options: QueryOptions) => Promise<Answer>,
  ): Promise<Answer> => {
    const statement = renumberLambdas(pruneColumns(select));
    options.ran?.(statement.text);
    const { progress, signal } = options;
    const ending = { signal, deadlineMs: Math.max(1, deadlineMs) };
    return query(statement, progress === undefined ? ending : { ...ending, progress });
  };
  const left = () => endsAt - performance.now();
  const run = async (
    relation: Relation,
    maxRows: number,
    deadlineMs = left(),
    from: Pick<LogReader, "query"> = store,
  ): Promise<Rows> => {
    const { columns } = relation;
    const items =
      columns.length === 0
        ? raw("NULL")
        : joined(
            columns.map(({ column }) => identifier(column)),
            ", ",
          );
    const { rows } = await send(selectFirst(relation, items, maxRows), deadlineMs, (one, how) =>
      from.query(one, how),
    );
    return { fields: columns, rows: columns.length === 0 ? rows.map(() => []) : rows };
  };
  const context = (range: TimeRange, savedSearches: readonly string[]): SearchContext => ({
    ...shared,
    range,
    savedSearches,
    warn,
    throwIfOver,
    run: (relation, maxRows) => run(relation, maxRows),
    openCursor: (select) => send(select, left(), (statement, how) => store.openCursor(statement, how)),
    runOn: (cursor, relation, maxRows) => run(relation, maxRows, left(), cursor),
    within: (other, savedSearch) =>
      context(other, savedSearch === undefined ? savedSearches : [...savedSearches, savedSearch]),
    parse: options.parse,
    subrelation: (pipeline) => compilePipeline(pipeline, context(range, savedSearches)),
    async subsearch(pipeline, { maxRows = 0, maxMs = 0 } = {}) {
      const limit = maxRows || limits.subsearchMaxRows;
      const relation = await compilePipeline(pipeline, context(range, savedSearches));
      const limitMs = Math.min(maxMs || limits.subsearchMaxMs, limits.subsearchMaxMs);
      const leftMs = left();
      const own = relation.range === undefined ? {} : { range: relation.range };
      try {
        const rows = await run(relation, limit + 1, Math.min(limitMs, leftMs));
        if (rows.rows.length <= limit) return { ...rows, ...own };
        warn(truncatedMessage(await countOf(relation, context(range, savedSearches)), limit));
        return { ...rows, ...own, rows: rows.rows.slice(0, limit) };
      } catch (error) {
        if (!(error instanceof QueryInterrupted) || error.reason !== "deadline" || limitMs >= leftMs)
          throw error;
        warn(finalizedMessage(limitMs));
        return { fields: relation.columns, rows: [], ...own };
      }
    },
  });
  return context(options.range, []);
}

/** The store with the deadline and the signal of the search on every statement, also those of commands that query it directly. */
function withDeadline({ store, signal }: ContextOptions, endsAt: number): LogReader {
  return new StoreReader(store, () => ({ signal, deadlineMs: Math.max(1, endsAt - performance.now()) }));
}
