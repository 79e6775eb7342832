/** Fills a store until it refuses more, in a process whose files are limited, and writes what it found to standard output. */
import { pino } from "pino";
import { raw, sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { StoreFull } from "../../store/log-store.ts";

/** What is in a store: how many documents, the sum of their numbers, those of a word, and those written twice. */
interface Content {
  documents: number;
  sum: number;
  words: number;
  changed: number;
}

export interface FillReport {
  /** Whether DuckDB has invalidated the database. */
  invalidated: boolean;
  refusal: string;
  expected: Content;
  found: Content;
  afterReset: Content;
}

const [folder = "", textIndex = "fields"] = process.argv.slice(2);
let invalidated = false;
const log = pino(
  { level: "error" },
  { write: (line) => (invalidated ||= line.includes("invalidated the database of a log store")) },
);
const store = await openLogStore({ folder, textIndex: textIndex === "raw" ? "raw" : "fields", log });
const acknowledged = new Map<string, { n: number; isChanged: boolean }>();
const word = () => Math.random().toString(36).slice(2);
let refusal = "";
for (let from = 0; refusal === ""; from += 200) {
  // Some are new, with fields of their own; some replace others; some are removed.
  const fresh = Array.from({ length: 200 }, (_, n) => ({ id: `d${from + n}`, n: from + n }));
  const changed = from === 0 ? [] : Array.from({ length: 5 }, (_, n) => ({ id: `d${from - 5 + n}`, n: 1 }));
  const written = [...fresh, ...changed];
  const documents = written.map(({ id, n }) => ({
    index: "logs",
    id,
    source: JSON.stringify({
      n,
      text: `${word()} ${n % 2 === 0 ? "upstream" : "cache"} ${word()} ${word().repeat(30)}`,
      ...(n % 1000 === 0 ? { [`field${n}`]: word() } : {}),
    }),
  }));
  try {
    await store.write(documents);
    for (const { id, n } of written) acknowledged.set(id, { n, isChanged: acknowledged.has(id) });
    if (from % 1000 === 0) {
      await store.remove([{ index: "logs", id: `d${from}` }]);
      acknowledged.delete(`d${from}`);
    }
  } catch (error) {
    if (!(error instanceof StoreFull)) throw error;
    refusal = error.message;
  }
}

async function contentOf(): Promise<Content> {
  const n = sql`CAST(json_extract(_source, '$.n') AS BIGINT)`;
  const upstream =
    textIndex === "raw"
      ? sql`_source LIKE '%upstream%'`
      : sql`_row IN (SELECT _row FROM ${raw(store.fields.get("text")?.postings ?? "")} WHERE term = 'upstream')`;
  const { rows } = await store.query(
    sql`SELECT count(*), coalesce(sum(${n}), 0)::BIGINT, count(*) FILTER (WHERE ${upstream}), count(*) FILTER (WHERE _version > 1) FROM documents`,
  );
  const [documents = 0, sum = 0, words = 0, changed = 0] = (rows[0] ?? []).map(Number);
  return { documents, sum, words, changed };
}

const all = [...acknowledged.values()];
const expected: Content = {
  documents: all.length,
  sum: all.reduce((sum, { n }) => sum + n, 0),
  words: all.filter(({ n }) => n % 2 === 0).length,
  changed: all.filter(({ isChanged }) => isChanged).length,
};
const found = await contentOf();
await store.reset();
await store.write([{ index: "logs", source: '{"n": 1, "text": "upstream"}' }]);
const afterReset = await contentOf();
await store.close();
const report: FillReport = { invalidated, refusal, expected, found, afterReset };
process.stdout.write(JSON.stringify(report));
