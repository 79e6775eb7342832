/**
 * Queries that no compiler knows, put into SQL by a language model. Its answer is read by DuckDB's own parser and refused
 * unless it is one SELECT over the dataset; what is wrong with it is told to the model once.
 */
import type { ChatMessage } from "../../openai/chat.ts";
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

export interface Translation {
  /** One SELECT; of an ES|QL query its result, of a Query DSL one a column `_row`. */
  statement: Sql;
  /** For the journal. */
  notes: { model: string; sql: string; cached: boolean; attempts: number; durationMs: number };
}

/** There is no SQL for this query; the message says why. */
export class TranslationFailed extends Error {
  override name = "TranslationFailed";
}

export interface Translator {
  /** @throws TranslationFailed */
  translate(question: Question): Promise<Translation>;
}

const MOST_CACHED = 500;
const ATTEMPTS = 2;

/** @param timeoutMs longest time for one question, both attempts included */
export function createTranslator(model: ChatModel, timeoutMs: number): Translator {
  const cache = new Map<string, string>();

  async function ask(question: Question, signal: AbortSignal): Promise<{ text: string; attempts: number }> {
    const conversation: ChatMessage[] = [
      { role: "system", content: instructionsFor(question.language, question.store.fields) },
      { role: "user", content: question.text },
    ];
    for (let attempts = 1; ; attempts++) {
      const answer = await model.complete(conversation, signal);
      const text = sqlOf(answer);
      try {
        await probe(question, text, signal);
        return { text, attempts };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (signal.aborted || attempts === ATTEMPTS)
          throw new TranslationFailed(`its SQL was refused: ${reason}`);
        conversation.push(
          { role: "assistant", content: answer.slice(0, 4_000) },
          { role: "user", content: `That cannot be run: ${reason}. Answer with corrected SQL only.` },
        );
      }
    }
  }

  return {
    async translate(question) {
      const startedAt = performance.now();
      const key = JSON.stringify([question.language, question.text, schemaKey(question.store.fields)]);
      const known = cache.get(key);
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([question.signal, deadline]);
      try {
        const { text, attempts } =
          known === undefined ? await ask(question, signal) : { text: known, attempts: 0 };
        remember(cache, key, text);
        const statement = withClock(
          await checkedSelect(question.store, text, tables, { signal }),
          question.nowMs,
        );
        const durationMs = Math.round(performance.now() - startedAt);
        return {
          statement,
          notes: { model: model.name, sql: text, cached: known !== undefined, attempts, durationMs },
        };
      } catch (error) {
        if (deadline.aborted)
          throw new TranslationFailed(`the model had no usable answer within ${timeoutMs} ms`);
        if (error instanceof TranslationFailed) throw error;
        throw new TranslationFailed(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

const tables = ["documents", "clock"];

/** Asks DuckDB whether it would run, without running it. @throws UncheckedSql, or DuckDB's error */
async function probe({ store, language, nowMs }: Question, text: string, signal: AbortSignal): Promise<void> {
  const statement = withClock(await checkedSelect(store, text, tables, { signal }), nowMs);
  const { columns } = await store.query(sql`SELECT * FROM (${statement}) LIMIT 0`, { signal });
  if (language === "query-dsl" && !columns.includes("_row")) {
    throw new UncheckedSql("its result has no column _row");
  }
}

function withClock(statement: Sql, nowMs: number): Sql {
  return sql`SELECT * FROM (WITH clock AS (SELECT make_timestamp(CAST(${BigInt(Math.round(nowMs)) * 1000n} AS BIGINT)) AS now) SELECT * FROM (${statement}))`;
}

/** Models like to wrap what they write. */
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

/** The least recently used goes first. */
function remember(cache: Map<string, string>, key: string, text: string): void {
  cache.delete(key);
  cache.set(key, text);
  for (const oldest of cache.keys()) {
    if (cache.size <= MOST_CACHED) return;
    cache.delete(oldest);
  }
}
