/**
 * Translates queries that no compiler supports into SQL, by a language model. DuckDB's own parser reads the answer, which is refused
 * unless it is one SELECT over the dataset; the model gets one chance to correct it.
 */

import { DeadlineExceeded, withDeadline } from "@offhook/platform/base/deadline";
import type { ChatMessage } from "@offhook/platform/openai/chat";
import { WorldUnavailable } from "@offhook/platform/world/world";
import type { FieldCatalog } from "../fields.ts";
import { type Sql, sql } from "../sql.ts";
import type { LogStore } from "../store/log-store.ts";
import { checkedSelect, UncheckedSql } from "./checked-select.ts";
import { instructionsFor, type Language } from "./instructions.ts";

/** A language model: a conversation in, a text out. */
export interface ChatModel {
  /** As the server names it. */
  readonly name: string;
  /** @throws Error whose message says why there is no answer, and holds no secret */
  complete(messages: readonly ChatMessage[], signal: AbortSignal): Promise<string>;
}

export interface Question {
  language: Language;
  /** The query as it came. */
  text: string;
  store: Pick<LogStore, "query" | "fields">;
  /** The sandbox's time, which the SQL reads as `(SELECT now FROM clock)`. */
  nowMs: number;
  signal: AbortSignal;
}

interface Translation<Result> {
  /** One SELECT: for ES|QL and aggregations the result itself, else a column `_row`. */
  statement: Sql;
  /** Of running it. */
  result: Result;
  /** For the journal. */
  notes: { model: string; sql: string; cached: boolean; attempts: number; durationMs: number };
}

/** The model gave no usable SQL; the message says why. */
export class TranslationFailed extends Error {
  override name = "TranslationFailed";
}

/** Runs a statement for the answer. The model is told of an error here. */
export type RunStatement<Result> = (statement: Sql, signal: AbortSignal) => Promise<Result>;

export interface Translator {
  /** @throws TranslationFailed; WorldUnavailable when the store cannot run any statement now */
  translate<Result>(question: Question, run: RunStatement<Result>): Promise<Translation<Result>>;
}

const MAX_CACHED = 500;
const MAX_ATTEMPTS = 2;

/** @param timeoutMs for one question, all attempts together */
export function createTranslator(model: ChatModel, timeoutMs: number): Translator {
  const cache = new Map<string, string>();

  async function ask<Result>(question: Question, run: RunStatement<Result>, signal: AbortSignal) {
    const conversation: ChatMessage[] = [
      { role: "system", content: instructionsFor(question.language, question.store.fields) },
      { role: "user", content: question.text },
    ];
    for (let attempts = 1; ; attempts++) {
      const answer = await model.complete(conversation, signal);
      const text = sqlOf(answer);
      try {
        return { text, attempts, ...(await tryOut(question, text, run, signal)) };
      } catch (error) {
        if (error instanceof WorldUnavailable && !signal.aborted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        if (signal.aborted || attempts === MAX_ATTEMPTS)
          throw new TranslationFailed(`its SQL was refused: ${reason}`);
        conversation.push(
          { role: "assistant", content: answer.slice(0, 4_000) },
          { role: "user", content: `That cannot be run: ${reason}. Answer with corrected SQL only.` },
        );
      }
    }
  }

  /** Runs cached SQL. It may fail on newer events; then the model is asked again. */
  async function runCached<Result>(
    question: Question,
    key: string,
    run: RunStatement<Result>,
    signal: AbortSignal,
  ) {
    const text = cache.get(key);
    if (text === undefined) return undefined;
    try {
      return { text, attempts: 0, ...(await tryOut(question, text, run, signal)) };
    } catch (error) {
      if (error instanceof WorldUnavailable || signal.aborted) throw error;
      cache.delete(key);
      return undefined;
    }
  }

  async function translate<Result>(
    question: Question,
    run: RunStatement<Result>,
    signal: AbortSignal,
  ): Promise<Translation<Result>> {
    const startedAt = performance.now();
    const key = JSON.stringify([question.language, question.text, schemaKey(question.store.fields)]);
    const known = await runCached(question, key, run, signal);
    const { text, attempts, statement, result } = known ?? (await ask(question, run, signal));
    remember(cache, key, text);
    const durationMs = Math.round(performance.now() - startedAt);
    return {
      statement,
      result,
      notes: { model: model.name, sql: text, cached: known !== undefined, attempts, durationMs },
    };
  }

  return {
    async translate(question, run) {
      try {
        return await withDeadline(question.signal, timeoutMs, (signal) => translate(question, run, signal));
      } catch (error) {
        if (error instanceof DeadlineExceeded)
          throw new TranslationFailed(`the model had no usable answer within ${timeoutMs} ms`);
        if (error instanceof TranslationFailed) throw error;
        if (error instanceof WorldUnavailable && !question.signal.aborted) throw error;
        throw new TranslationFailed(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

const tables = ["documents", "clock"];

/** Checks a model's SQL and runs it, for much fails only on the events. @throws UncheckedSql, or what `run` throws */
async function tryOut<Result>(
  { store, language, nowMs }: Question,
  text: string,
  run: RunStatement<Result>,
  signal: AbortSignal,
): Promise<{ statement: Sql; result: Result }> {
  const statement = withClock(await checkedSelect(store, text, tables, { signal }), nowMs);
  const { columns } = await store.query(sql`SELECT * FROM (${statement}) LIMIT 0`, { signal });
  if (selectsRows(language) && !columns.includes("_row")) {
    throw new UncheckedSql("its result has no column _row");
  }
  return { statement, result: await run(statement, signal) };
}

function selectsRows(language: Language): boolean {
  return language === "query-dsl" || language === "search-body";
}

function withClock(statement: Sql, nowMs: number): Sql {
  return sql`SELECT * FROM (WITH clock AS (SELECT make_timestamp(CAST(${BigInt(Math.round(nowMs)) * 1000n} AS BIGINT)) AS now) SELECT * FROM (${statement}))`;
}

/** Models tend to wrap SQL in a code fence. */
function sqlOf(answer: string): string {
  const fence = "```";
  const open = answer.indexOf(fence);
  if (open < 0) return answer.trim();
  const begin = answer.indexOf("\n", open);
  const close = answer.indexOf(fence, begin);
  return answer.slice(begin, close < 0 ? undefined : close).trim();
}

function schemaKey(fields: FieldCatalog): string {
  return fields
    .all()
    .map(({ name, type, multi }) => `${name} ${type}${multi ? "[]" : ""}`)
    .join("\n");
}

/** Adds to the LRU cache. */
function remember(cache: Map<string, string>, key: string, text: string): void {
  cache.delete(key);
  cache.set(key, text);
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED) return;
    cache.delete(oldest);
  }
}
