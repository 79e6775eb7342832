/** The database of campaigns: connections that outlive a restart of the server, and transactions. */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { CREATE_TABLES } from "./tables.ts";

const CONNECT_MS = 5_000;
const MAX_CONNECTIONS = 4;
/** A statement that hangs, as on a broken network, fails after this. */
const STATEMENT_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** A statement of its own, or of a transaction. */
export type Query = Pick<pg.ClientBase, "query">;

/** What every connection is opened with. */
export function connectionOptions(url: string, applicationName: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
  };
}

/** @throws when the server cannot be reached or the tables cannot be created */
export async function openDatabase(url: string): Promise<pg.Pool> {
  const pool = new pg.Pool({ ...connectionOptions(url, "offhook campaign"), max: MAX_CONNECTIONS });
  pool.on("error", () => {}); // The next query replaces a lost idle connection.
  pool.on("connect", (client) => client.on("error", () => {})); // A running query gets the error itself.
  try {
    await pool.query(`BEGIN;${CREATE_TABLES}COMMIT`);
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: Query) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Postgres error classes and codes that pass: connection, resources, operator intervention, and lost races. */
const PASSING = /^(08|53|57P|40001|40P01|55P03)/;

/** Whether an error is of the connection or the server's state, so that the same statement may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (error instanceof pg.DatabaseError) return PASSING.test(code);
  return code.startsWith("E") || /connection|timeout|terminat/i.test(error.message);
}

/**
 * Repeats work until it succeeds while the database cannot be reached.
 * @param signal gives up between two tries
 * @param onWait called once, with the reason, when the first try fails
 * @throws what does not pass, and the last reason after `signal`
 */
export async function outlastOutage<Result>(
  work: () => Promise<Result>,
  { signal, onWait = () => undefined }: { signal: AbortSignal; onWait?: (reason: string) => void },
): Promise<Result> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      if (pauseMs === FIRST_PAUSE_MS) onWait(error instanceof Error ? error.message : String(error));
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
