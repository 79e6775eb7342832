/** The tools' database: one small pool, made with the first query, bounded in every wait. */
import pg from "pg";
import type { Logger } from "pino";
import type { Database } from "../tools/tool.ts";
import { traceStatement } from "./telemetry/statement-span.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/telemetry.ts";

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;

export interface PooledDatabase extends Database {
  /** Closes the pool; queries made afterwards fail. */
  close(): Promise<void>;
}

/** The database behind a connection string; nothing connects before the first query. */
export function openDatabase(
  connectionString: string | undefined,
  log: Logger,
  telemetry: Telemetry = NO_TELEMETRY,
): PooledDatabase {
  let pool: pg.Pool | undefined;
  function connect(): pg.Pool {
    if (connectionString === undefined) {
      throw new Error("there is no database: set DATABASE_URL");
    }
    const created = new pg.Pool({
      connectionString,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
      allowExitOnIdle: true,
    });
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    created.on("error", (error) => log.warn({ reason: error.message }, "a database connection broke"));
    return created;
  }
  return {
    async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      pool ??= connect();
      const connections = pool;
      const result = await traceStatement(telemetry, text, (traced) =>
        connections.query<Row & pg.QueryResultRow>(traced, values),
      );
      return result.rows;
    },
    async close() {
      await pool?.end();
    },
  };
}
