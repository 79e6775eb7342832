import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raw, sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";

describe("a log store", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await openLogStore();
    const events = [
      {
        "@timestamp": "2026-01-31T09:00:00Z",
        level: "error",
        http: { status: 503 },
        message: "Pool is empty, empty",
      },
      { "@timestamp": "2026-01-31T09:00:01Z", level: "info", http: { status: 200 }, tags: ["a", "b"] },
    ];
    await store.write(events.map((event) => ({ index: "logs", source: JSON.stringify(event) })));
  });
  afterAll(() => store.close());

  test("flattens nested objects to dotted fields, each with its type", () => {
    const types = store.fields.all().map(({ name, type, multi }) => [name, type, multi]);
    expect(types).toEqual([
      ["@timestamp", "date", false],
      ["http.status", "long", false],
      ["level", "text", false],
      ["message", "text", false],
      ["tags", "text", true],
    ]);
  });

  test("a value is bound, never part of the statement", async () => {
    const { rows } = await store.query(
      sql`SELECT _row, "@timestamp", tags FROM documents WHERE level = ${"info"}`,
    );
    expect(rows).toEqual([[1, Date.parse("2026-01-31T09:00:01Z"), ["a", "b"]]]);
  });

  test("postings hold each term once a position, its frequency at the first", async () => {
    const postings = store.fields.get("message")?.postings ?? "";
    const { rows } = await store.query(
      raw(`SELECT term, position, frequency, length FROM ${postings} ORDER BY position`),
    );
    expect(rows).toEqual([
      ["pool", 1, 1, 4],
      ["is", 2, 1, 4],
      ["empty", 3, 2, 4],
      ["empty", 4, 0, 4],
    ]);
  });
});
