/** The control plane's connections to one sandbox's database. A reset closes them and opens new ones. */
import { setTimeout as pause } from "node:timers/promises";
import { WorldRefusal } from "@offhook/platform/world/world";
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { type ChangeFeed, everyTable, type Notice, openChangeFeed } from "./change-feed.ts";
import { ConnectionLost } from "./unavailable.ts";
import { sessionOptions } from "./values.ts";

const MAX_CONNECTIONS = 4;
/** Longest wait for a connection: for the server's answer, or for a free one in the pool. */
export const CONNECT_MS = 10_000;
/** The code under test may hold a lock forever. */
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** A server that vanished, such as one whose machine crashed, ends no statement itself. */
const ANSWER_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** Pauses between tries to restore the change feed; the last repeats. */
const WATCH_PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200, 5_000];

export interface Connection {
  /** Runs `work` on one connection. @throws ConnectionLost when there is none, or it was lost meanwhile */
  with<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** Resolves when every change committed so far has been delivered. @throws ConnectionLost */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/** @throws ConnectionLost when the database cannot be reached */
export async function openConnection(
  url: string,
  log: Logger,
  deliver: (notice: Notice) => void,
): Promise<Connection> {
  const config = {
    connectionString: url,
    application_name: "offhook control",
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    options: `${sessionOptions} -c lock_timeout=${LOCK_TIMEOUT_MS} -c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
  };
  const pool = new pg.Pool({ ...config, max: MAX_CONNECTIONS });
  pool.on("error", (error) => log.debug({ error: error.message }, "an idle database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => {})); // A running query gets the error itself.
  const closing = new AbortController();
  let feed: Promise<ChangeFeed> | undefined;
  let watchingAgain: Promise<void> | undefined;

  const watch = (): Promise<ChangeFeed> => {
    const opening = openChangeFeed(config, deliver, (error) => {
      log.warn({ error: error?.message }, "the database connection that watches for changes was lost");
      if (feed !== opening) return;
      feed = undefined;
      watchingAgain ??= watchAgain().finally(() => {
        watchingAgain = undefined;
      });
    });
    feed = opening;
    opening.catch(() => {
      if (feed === opening) feed = undefined;
    });
    return opening;
  };
  /** The missed changes are unknown, so everything may have changed. */
  const watchAnew = async () => {
    await watch();
    deliver({ change: "load", tables: [everyTable] });
  };
  /** Watchers send no requests that would restore the feed, so it restores itself. */
  const watchAgain = async () => {
    for (let attempt = 0; !closing.signal.aborted && !feed; attempt++) {
      const ms = WATCH_PAUSES_MS[Math.min(attempt, WATCH_PAUSES_MS.length - 1)];
      await pause(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (closing.signal.aborted || feed) return;
      await watchAnew().then(
        () => log.info("the database is watched for changes again"),
        () => {}, // The next round tries again.
      );
    }
  };

  const connection: Connection = {
    with: async (work) => {
      const client = await pool.connect().catch((error: unknown) => {
        throw new ConnectionLost(error);
      });
      let lost: Error | undefined;
      const lose = (error: Error) => {
        lost = error;
      };
      client.on("error", lose);
      let broken: Error | undefined;
      try {
        return await work(client);
      } catch (error) {
        broken = sessionError(error);
        if (lost || isUnanswered(error)) throw new ConnectionLost(lost ?? error);
        throw error;
      } finally {
        client.off("error", lose);
        client.release(lost ?? broken);
      }
    },
    catchUp: async () => {
      try {
        if (!feed) await watchAnew();
        await (await feed)?.catchUp();
      } catch (error) {
        throw new ConnectionLost(error);
      }
    },
    close: async () => {
      closing.abort();
      await watchingAgain;
      const open = await feed?.catch(() => undefined);
      await everyStep([() => open?.close(), () => pool.end()]);
    },
  };
  try {
    // Opens the first connection of the pool at the same time, for a query follows.
    await Promise.all([watch(), pool.connect().then((client) => client.release())]);
  } catch (error) {
    await connection.close();
    throw new ConnectionLost(error);
  }
  return connection;
}

/** The error, if its session cannot be reused. */
function sessionError(error: unknown): Error | undefined {
  if (!(error instanceof Error) || error instanceof WorldRefusal) return undefined;
  return error instanceof pg.DatabaseError && error.severity !== "FATAL" ? undefined : error;
}

/** Whether pg timed out waiting for an answer; it has no error class for that. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}
