import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TimeFormat, timeFormat, timeFormatNames } from "../../dates/time-formats.ts";
import { dates, timeNumbers } from "../../ingest/date-candidates.ts";
import { ingest } from "../../ingest/ingest.ts";
import { identifier, joined, raw, type Sql, sql } from "../../sql.ts";
import { read } from "../../store/duckdb.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";

const candidates = [...dates, ...timeNumbers];
const formats = candidates.flatMap(({ name }) => timeFormat(name) ?? []);

/** Texts of a format, days that no month has among them. */
function textsOf({ patterns }: TimeFormat): fc.Arbitrary<string> {
  return fc.oneof(...patterns.map((pattern) => fc.stringMatching(new RegExp(`^(?:${pattern})$`))));
}

test("what an upload recognises is what a store knows by name", () => {
  expect(candidates.map(({ name }) => name)).toEqual(timeFormatNames);
});

test("SQL and JavaScript read the same instant in every text of every format, or both none", async () => {
  const database = await DuckDBInstance.create(":memory:");
  const connection = await database.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const texts = formats.flatMap((format) => fc.sample(textsOf(format), 400));
  const list: Sql = sql`(SELECT unnest([${joined(
    texts.map((text) => sql`${text}`),
    ", ",
  )}]) AS value)`;
  const instants = candidates.map(
    (candidate) =>
      sql`CASE WHEN ${candidate.fits(raw("value"))} THEN epoch_us(${candidate.convert(raw("value"))}) END`,
  );
  const { rows } = await read(connection, sql`SELECT value, ${joined(instants, ", ")} FROM ${list}`);
  const differences = rows.flatMap(([value, ...found]) =>
    formats.flatMap((format, index) => {
      const text = String(value);
      const inSql = found[index] === null ? undefined : BigInt(String(found[index]));
      // A column's unit is known when it is written to: then it reads counts that an upload would not guess.
      const isGuess = format.name.startsWith("epoch") && inSql === undefined;
      const here = isGuess ? undefined : format.read(text);
      return here === inSql ? [] : [{ format: format.name, text, inSql, here }];
    }),
  );
  connection.closeSync();
  database.closeSync();
  expect(rows).toHaveLength(texts.length);
  expect(differences).toEqual([]);
});

describe("a document that is written later", () => {
  /** A number is taken for a time in a column of such a name. */
  const timeNames = ["_time", "@timestamp", "timestamp", "time", "ts", "date"];
  const columns = formats.map((format, index) => ({
    name: timeNumbers.some(({ name }) => name === format.name)
      ? (timeNames[timeNumbers.findIndex(({ name }) => name === format.name)] ?? "")
      : `field ${index}`,
    format,
  }));
  const event: fc.Arbitrary<Record<string, string>> = fc.record(
    Object.fromEntries(
      columns.map(({ name, format }) => [
        name,
        textsOf(format).filter((text) => format.read(text) !== undefined),
      ]),
    ),
  );

  async function instantsOf(store: LogStore, row: number): Promise<Record<string, unknown>> {
    const cells = columns.map(({ name }) => {
      const field = store.fields.get(name);
      return field?.type === "date"
        ? sql`epoch_us(${identifier(field.column)})`
        : sql`CAST(${identifier(name)} AS VARCHAR)`;
    });
    const { rows } = await store.query(sql`SELECT ${joined(cells, ", ")} FROM documents WHERE _row = ${row}`);
    return Object.fromEntries(columns.map(({ name }, index) => [name, rows[0]?.[index]]));
  }

  test("with a time in the format that the upload had has the same instant, and a change elsewhere leaves it", async () => {
    await fc.assert(
      fc.asyncProperty(event, async (texts) => {
        const folder = await mkdtemp(path.join(tmpdir(), "formats-"));
        const source = JSON.stringify({ ...texts, message: "a" });
        try {
          const bytes = [Buffer.from(`${source}\n`)];
          const { file } = await ingest({ bytes: toStream(bytes), format: "ndjson" }, folder);
          const store = await openLogStore({ baselineFile: file });
          try {
            const uploaded = await instantsOf(store, 0);
            expect(store.fields.all().filter(({ type }) => type === "date").length).toBeGreaterThanOrEqual(
              formats.length - 2,
            );
            const changed = JSON.stringify({ ...texts, message: "b" });
            await store.write([
              { index: "logs", source: changed },
              { index: "logs", id: "row-0", source: changed },
            ]);
            expect(await instantsOf(store, 1)).toEqual(uploaded);
            expect(await instantsOf(store, 2)).toEqual(uploaded);
          } finally {
            await store.close();
          }
        } finally {
          await rm(folder, { recursive: true });
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});

async function* toStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
