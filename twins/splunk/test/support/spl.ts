/** SPL over a small store, for tests of commands, functions and the rest of the language. */

import { identifier, joined, sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore, ResultValue } from "@offhook/log-store/store/log-store";
import { compilePipeline } from "../../spl/compile-pipeline.ts";
import type { Knowledge } from "../../spl/context/knowledge.ts";
import { defaultLimits, type SearchContext, type SearchLimits } from "../../spl/context/search-context.ts";
import { createSearchContext } from "../../spl/create-context.ts";
import { parseSearch } from "../../spl/parse-search.ts";
import type { Relation } from "../../spl/relation/relation.ts";
import { type Rows, relationOf } from "../../spl/relation/rows.ts";
import { SplError } from "../../spl/spl-error.ts";
import type { TimeRange } from "../../spl/time/time-range.ts";

interface Found {
  /** Names of the columns, in their order. */
  fields: string[];
  /** Missing values are absent; an array is a multi-value. */
  rows: Record<string, ResultValue>[];
  /** The texts of the search's messages. */
  messages: string[];
  /** The statements that ran. */
  statements: string[];
}

export interface BenchOptions {
  /** The events go into it, and it is closed with the bench; an empty one by default. */
  store?: LogStore;
  /** By default there are no knowledge objects. */
  knowledge?: Partial<Knowledge>;
  nowMs?: number;
  timeZone?: string;
  range?: TimeRange;
  limits?: Partial<SearchLimits>;
  /** Ends searches; by default nothing does. */
  signal?: AbortSignal;
  /** How long a search may take: a minute. */
  deadlineMs?: number;
}

export interface SplBench {
  readonly store: LogStore;
  /** Runs a search as the REST API takes it. */
  search(text: string): Promise<Found>;
  /** Runs commands on these rows: `searchRows([{ a: 1 }], "head 1")`. */
  searchRows(rows: readonly object[], text: string): Promise<Found>;
  /** The columns of a search: what they are said to hold, and the database's own type of what is in them. */
  columnTypes(text: string): Promise<ColumnType[]>;
  /** What is said of a search that is refused or fails. */
  refusal(text: string): Promise<string>;
  close(): Promise<void>;
}

export interface ColumnType {
  name: string;
  declared: { type: "text" | "number"; multi: boolean };
  /** Such as `VARCHAR[]`; `undefined` when there is no row. */
  actual: string | undefined;
}

export const benchNowMs = Date.UTC(2026, 0, 15, 12);
const allTime: TimeRange = { earliestMs: undefined, latestMs: undefined };

/** @param events written in this order, as they are */
export async function splBench(
  events: readonly object[] = [],
  options: BenchOptions = {},
): Promise<SplBench> {
  const store = options.store ?? (await openLogStore({ textIndex: "raw" }));
  if (events.length > 0) {
    await store.write(
      events.map((event, number) => ({ id: `e${number}`, index: "main", source: JSON.stringify(event) })),
    );
  }
  const run = async (text: string, input?: Relation): Promise<Found> => {
    const messages: string[] = [];
    const statements: string[] = [];
    const context = contextOf(store, options, messages, statements);
    const relation = await compilePipeline(context.parse(text), context, input);
    const { fields, rows } = await context.run(relation, context.limits.maxResultRows);
    return {
      fields: fields.map(({ name }) => name),
      rows: objectsOf({ fields, rows }),
      messages,
      statements,
    };
  };
  const bench: SplBench = {
    store,
    search: (text) => run(text),
    searchRows: (rows, text) => run(text, relationOf(rowsOf(rows), "report")),
    async columnTypes(text) {
      const context = contextOf(store, options, [], []);
      const { select, columns } = await compilePipeline(context.parse(text), context);
      if (columns.length === 0) return [];
      const types = columns.map(({ column }) => sql`typeof(${identifier(column)}) AS ${identifier(column)}`);
      const typed = sql`SELECT ${joined(types, ", ")} FROM (${select}) AS r`;
      const asText = columns.map(
        ({ name, column }) => ({ name, column, type: "text", multi: false }) as const,
      );
      const found = await context.run({ select: typed, columns: asText, order: [], kind: "report" }, 1);
      return columns.map(({ name, type, multi }, index) => {
        const actual = found.rows[0]?.[index];
        return { name, declared: { type, multi }, actual: typeof actual === "string" ? actual : undefined };
      });
    },
    async refusal(text) {
      try {
        await run(text);
      } catch (error) {
        if (error instanceof SplError) return error.message;
        throw error;
      }
      throw new Error(`this was not refused: ${text}`);
    },
    close: () => store.close(),
  };
  return bench;
}

/** Knowledge with these members; what a test has not given is empty, and writing throws. */
export function knowledgeOf(given: Partial<Knowledge> = {}): Knowledge {
  const refuse = async () => {
    throw new Error("the test's knowledge takes no writes");
  };
  return {
    macro: () => undefined,
    savedSearch: () => undefined,
    lookup: async () => undefined,
    writeLookup: refuse,
    removeLookup: refuse,
    tagged: () => [],
    tagsOf: () => [],
    eventType: () => undefined,
    eventTypes: () => [],
    dataModel: () => [],
    jobResults: async () => undefined,
    rest: async () => undefined,
    collect: refuse,
    indexes: async () => ["main"],
    defaultIndexes: () => ["main"],
    ...given,
  };
}

/** Rows of objects: a field is a number when all its values are, and a multi-value when one is an array. */
export function rowsOf(objects: readonly object[]): Rows {
  const records = objects.map((object): [string, ResultValue][] => Object.entries(object));
  const names = [...new Set(records.flatMap((record) => record.map(([name]) => name)))];
  const fields = names.map((name) => {
    const values = records.flatMap((record) =>
      record.filter(([key, value]) => key === name && value !== null).flatMap(([, value]) => value),
    );
    const multi = records.some((record) =>
      record.some(([key, value]) => key === name && Array.isArray(value)),
    );
    const type = values.every((value) => typeof value === "number") ? "number" : "text";
    return { name, type, multi } as const;
  });
  const rows = records.map((record) => {
    const values = new Map(record);
    return fields.map(({ name, type, multi }) => {
      const value = values.get(name) ?? null;
      if (value === null) return null;
      const list = (Array.isArray(value) ? value : [value]).map((one) =>
        type === "text" ? String(one) : one,
      );
      return multi ? list : (list[0] ?? null);
    });
  });
  return { fields, rows };
}

function objectsOf({ fields, rows }: Rows): Record<string, ResultValue>[] {
  return rows.map((row) =>
    Object.fromEntries(
      fields.flatMap(({ name }, index): [string, ResultValue][] => {
        const value = row[index] ?? null;
        return value === null ? [] : [[name, value]];
      }),
    ),
  );
}

function contextOf(
  store: LogStore,
  options: BenchOptions,
  messages: string[],
  statements: string[],
): SearchContext {
  const knowledge = knowledgeOf(options.knowledge);
  return createSearchContext({
    store,
    knowledge,
    nowMs: options.nowMs ?? benchNowMs,
    timeZone: options.timeZone ?? "UTC",
    range: options.range ?? allTime,
    limits: { ...defaultLimits, ...options.limits },
    sid: "1768478400.1",
    user: "admin",
    app: "search",
    signal: options.signal ?? new AbortController().signal,
    deadlineMs: options.deadlineMs ?? 60_000,
    parse: (text) => parseSearch(text, knowledge),
    warn: ({ text }) => messages.push(text),
    ran: (statement) => statements.push(statement),
  });
}
