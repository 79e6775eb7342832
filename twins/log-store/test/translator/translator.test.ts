import type { ChatMessage } from "@offhook/platform/openai/chat";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import {
  type ChatModel,
  createTranslator,
  TranslationFailed,
  type Translator,
} from "../../translator/translator.ts";

/** Answers what it was told to, one after the other; remembers what it was asked. */
class PlayedModel implements ChatModel {
  readonly name = "played";
  readonly asked: ChatMessage[][] = [];
  answers: (string | Error | "never")[] = [];

  async complete(messages: readonly ChatMessage[], signal: AbortSignal): Promise<string> {
    this.asked.push([...messages]);
    const answer = this.answers.shift() ?? new Error("nothing more to say");
    if (answer === "never")
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

describe("the translator", () => {
  let store: LogStore;
  let model: PlayedModel;
  let translator: Translator;
  beforeAll(async () => {
    store = await openLogStore();
    const events = [
      { "@timestamp": "2026-01-31T09:00:00Z", level: "error", http: { status: 503 } },
      { "@timestamp": "2026-01-31T08:00:00Z", level: "info", http: { status: 200 } },
    ];
    await store.write(events.map((event) => ({ index: "logs", source: JSON.stringify(event) })));
  });
  afterAll(() => store.close());
  beforeEach(() => {
    model = new PlayedModel();
    translator = createTranslator(model, 2_000);
  });

  const ask = (
    text: string,
    language: "esql" | "query-dsl" = "esql",
    signal = new AbortController().signal,
  ) =>
    translator.translate(
      {
        language,
        text,
        store,
        nowMs: Date.parse("2026-01-31T09:30:00Z"),
        signal,
      },
      (statement, until) => store.query(statement, { signal: until }),
    );

  test("the model is told the query and the schema, and its SQL answers the question", async () => {
    model.answers = [
      "```sql\nSELECT level, count(*) AS n FROM documents GROUP BY level ORDER BY level;\n```",
    ];
    const { statement, notes } = await ask("FROM logs | MAGIC level");
    expect(await store.query(statement)).toEqual({
      columns: ["level", "n"],
      rows: [
        ["error", 1],
        ["info", 1],
      ],
    });
    expect(notes).toMatchObject({ model: "played", cached: false, attempts: 1 });
    const [system, user] = model.asked[0] ?? [];
    expect(user?.content).toBe("FROM logs | MAGIC level");
    expect(system?.content).toContain('"http.status" BIGINT');
    expect(system?.content).toContain('"@timestamp" TIMESTAMP');
  });

  test("the present moment is the sandbox's", async () => {
    model.answers = [
      `SELECT level FROM documents WHERE "@timestamp" > (SELECT now FROM clock) - INTERVAL 1 HOUR`,
    ];
    const { statement } = await ask("FROM logs | LAST 1h");
    expect((await store.query(statement)).rows).toEqual([["error"]]);
  });

  test("the same question is asked once", async () => {
    model.answers = ["SELECT level FROM documents"];
    await ask("FROM logs | TWICE");
    const { notes } = await ask("FROM logs | TWICE");
    expect(notes).toMatchObject({ cached: true, attempts: 0 });
    expect(model.asked).toHaveLength(1);
  });

  test("what is wrong with an answer is told to the model once", async () => {
    model.answers = ["SELECT nothing FROM documents", "SELECT level FROM documents"];
    const { notes } = await ask("FROM logs | SECOND TRY");
    expect(notes.attempts).toBe(2);
    expect(model.asked[1]?.at(-1)?.content).toContain("nothing");
  });

  test("SQL that binds and fails over the events is told to the model once, and never kept", async () => {
    const failing = "SELECT CAST(level AS INTEGER) AS n FROM documents";
    model.answers = [failing, "SELECT level FROM documents"];
    expect((await ask("FROM logs | FAILS ONCE")).notes.attempts).toBe(2);
    expect(model.asked[1]?.at(-1)?.content).toMatch(/cannot be run: .*error/);
    model.answers = [failing, failing];
    await expect(ask("FROM logs | FAILS")).rejects.toThrow(TranslationFailed);
    model.answers = ["SELECT level FROM documents"];
    expect((await ask("FROM logs | FAILS")).notes).toMatchObject({ cached: false, attempts: 1 });
  });

  test("SQL that was kept and fails over later events is asked for anew", async () => {
    model.answers = [
      "SELECT CAST(level AS VARCHAR) AS n, 1 // (count(*) - 3) AS z, CASE WHEN count(*) > 2 THEN error('too many') END AS e FROM documents GROUP BY level",
    ];
    await ask("FROM logs | LATER");
    const later = Array.from({ length: 3 }, () => ({
      index: "more",
      source: JSON.stringify({ level: "info" }),
    }));
    const written = await store.write(later);
    model.answers = ["SELECT 1 AS n FROM documents LIMIT 1"];
    expect((await ask("FROM logs | LATER")).notes).toMatchObject({ cached: false, attempts: 1 });
    await store.remove(written.map(({ id }) => ({ index: "more", id })));
  });

  test("an answer that stays hostile is never run", async () => {
    model.answers = ["DROP TABLE documents", "COPY documents TO 'x'"];
    await expect(ask("FROM logs | DROP EVERYTHING")).rejects.toThrow(TranslationFailed);
    model.answers = ["SELECT count(*) FROM documents"];
    const { statement } = await ask("FROM logs | COUNT");
    expect((await store.query(statement)).rows).toEqual([[2]]);
  });

  test("a query of the Query DSL becomes the rows it matches", async () => {
    model.answers = ["SELECT level FROM documents", "SELECT _row FROM documents WHERE level = 'error'"];
    const { statement } = await ask('{"strange":{}}', "query-dsl");
    expect((await store.query(statement)).rows).toEqual([[0]]);
    expect(model.asked[1]?.at(-1)?.content).toContain("_row");
  });

  test("a model that does not answer in time, or at all, is a failure in words", async () => {
    translator = createTranslator(model, 50);
    model.answers = ["never"];
    await expect(ask("FROM logs | SLOW")).rejects.toThrow("within 50 ms");
    model.answers = [new Error("the server answered 500")];
    await expect(ask("FROM logs | BROKEN")).rejects.toThrow("the server answered 500");
  });

  test("a client that leaves ends the question", async () => {
    const leaving = new AbortController();
    model.answers = ["never"];
    const answer = ask("FROM logs | LEFT", "esql", leaving.signal);
    leaving.abort();
    await expect(answer).rejects.toThrow(TranslationFailed);
  });
});
