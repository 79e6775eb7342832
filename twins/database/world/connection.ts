/** The control plane's connections to one sandbox's database; closed and opened again around a reset. */
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { type ChangeFeed, everyTable, type Notice, openChangeFeed } from "./change-feed.ts";
import { sessionOptions } from "./values.ts";

const connections = 4;
/** The code under test may hold a lock for ever; the control plane does not wait for it that long. */
const lockTimeoutMs = 5_000;
const statementTimeoutMs = 60_000;

export interface Connection {
  /** Runs `work` on one connection. */
  with<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** Resolves when every change committed so far has been delivered. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

export async function openConnection(
  url: string,
  log: Logger,
  deliver: (notice: Notice) => void,
): Promise<Connection> {
  const config = {
    connectionString: url,
    application_name: "offhook control",
    options: `${sessionOptions} -c lock_timeout=${lockTimeoutMs} -c statement_timeout=${statementTimeoutMs}`,
  };
  const pool = new pg.Pool({ ...config, max: connections });
  pool.on("error", (error) => log.debug({ error: error.message }, "an idle database connection was lost"));
  let feed: Promise<ChangeFeed> | undefined;
  const listen = (): Promise<ChangeFeed> => {
    const opening = openChangeFeed(config, deliver, (error) => {
      log.warn({ error: error?.message }, "the database connection that watches for changes was lost");
      if (feed === opening) feed = undefined;
    });
    opening.catch(() => {
      if (feed === opening) feed = undefined;
    });
    return opening;
  };
  const connection: Connection = {
    with: async (work) => {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        return await work(client);
      } catch (error) {
        if (error instanceof Error && !(error instanceof pg.DatabaseError)) broken = error;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    catchUp: async () => {
      if (!feed) {
        feed = listen();
        await feed;
        deliver({ change: "load", tables: [everyTable] }); // What was missed is not known, so all of it may have changed.
      }
      await (await feed).catchUp();
    },
    close: async () => {
      const open = await feed?.catch(() => undefined);
      await everyStep([() => open?.close(), () => pool.end()]);
    },
  };
  feed = listen();
  try {
    // The first of the pool is opened at the same time: who opens a connection wants to ask something.
    await Promise.all([feed, pool.connect().then((client) => client.release())]);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}
