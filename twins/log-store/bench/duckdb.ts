/** Plain DuckDB, with as much memory and as many threads as the twin's. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { AskByHand, DatasetFormat } from "./questions.ts";

/** What the twin takes for itself: to make a dataset, and to answer. */
const memory = { load: "384MB", ask: "256MB" } as const;
const THREADS = "2";

export async function openDatabase(file: string, use: keyof typeof memory): Promise<OpenDatabase> {
  const instance = await DuckDBInstance.create(file, { memory_limit: memory[use], threads: THREADS });
  const connection = await instance.connect();
  return {
    ask: askOn(connection),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export interface OpenDatabase {
  ask: AskByHand;
  close(): void;
}

function askOn(connection: DuckDBConnection): AskByHand {
  return async (statement, values) => {
    const result = await connection.runAndReadAll(statement, values);
    return result.getRows().map((row) =>
      row.map((value) => {
        if (typeof value === "bigint") return Number(value);
        return typeof value === "number" || typeof value === "string" ? value : null;
      }),
    );
  };
}

const readers: Record<DatasetFormat, (file: string) => string> = {
  ndjson: (file) => `read_json('${file}', format = 'newline_delimited')`,
  csv: (file) => `read_csv('${file}')`,
};

/** A table of a file's rows. @param file without quotes in its path */
export async function loadFile(ask: AskByHand, file: string, format: DatasetFormat): Promise<number> {
  await ask(`CREATE TABLE loaded AS SELECT * FROM ${readers[format](file)}`);
  await ask("CHECKPOINT");
  const [counted] = await ask("SELECT count(*) FROM loaded");
  return Number(counted?.[0]);
}

/**
 * Somebody who asks the same questions by hand gives each value a column of its own, and looks for words in a table of words
 * that lies in their order. Each word of an event's message has its place there, and at the first how often it comes.
 */
const extension = [
  `CREATE TABLE events AS SELECT "@timestamp" AS happened, service.name AS service, service.version AS version,
     log.level AS level, log.logger AS logger, message, host.name AS host, trace.id AS trace, http.request.method AS method,
     http.response.status_code AS status, url.path AS path, event.duration AS duration, error.type AS error_type,
     error.message AS error_message, tags
   FROM loaded`,
  "DROP TABLE loaded",
  `CREATE TABLE words AS
   SELECT word, event, position,
          if(row_number() OVER (PARTITION BY event, word ORDER BY position) = 1,
             count(*) OVER (PARTITION BY event, word), 0)::INTEGER AS frequency, length
   FROM (SELECT event, unnest(words) AS word, generate_subscripts(words, 1)::INTEGER AS position,
                len(words)::INTEGER AS length
         FROM (SELECT rowid AS event, regexp_extract_all(lower(message), '[a-z0-9]+') AS words FROM events))
   ORDER BY word, event, position`,
  `CREATE TABLE statistics AS
   SELECT count(*) AS events, avg(length) AS mean_length FROM words WHERE position = 1`,
  "CHECKPOINT",
];

export async function extend(ask: AskByHand): Promise<void> {
  for (const statement of extension) await ask(statement);
}
