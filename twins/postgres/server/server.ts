/** The Postgres server of this process: one, shared by every sandbox, started by the first and stopped by the last. */
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { CONNECT_MS } from "../world/connection.ts";
import { type Copies, createCopies } from "./copies.ts";
import { type EmbeddedServer, startEmbeddedServer } from "./embedded-server.ts";
import { createTemplates, type TemplateServer, type Templates } from "./templates.ts";

export interface Server extends TemplateServer {
  templates: Templates;
  copies: Copies;
  /** Why the server cannot be reached and what to do, where that is known: its process is not running. */
  outage(): string | undefined;
  /** Resolves when the server is not being started again at the moment. */
  settled(): Promise<void>;
}

/** A share in the server; it stops when the last share is released. */
export interface ServerLease {
  server: Server;
  release(): Promise<void>;
}

interface Started {
  server: Server;
  stop(): Promise<void>;
}

const oldestVersion = 160_000;
/** Two for those who wait, one for what is done in the background. */
const connections = 3;
/** Those at work, by the address they were asked for; the embedded one has none. */
const servers = new Map<string, { starting: Promise<Started>; shares: number }>();

/**
 * The server to work on: the one `serverUrl` names (`DATABASE_SERVER_URL`), else the embedded one. All sandboxes of one server
 * share its templates, so that a seed which makes times or ids of its own has made the same for each.
 * @throws Error when it cannot be reached, is too old, or cannot be started
 */
export async function leaseServer(log: Logger, serverUrl = ""): Promise<ServerLease> {
  const shared = servers.get(serverUrl) ?? { starting: startServer(log, serverUrl), shares: 0 };
  servers.set(serverUrl, shared);
  shared.shares++;
  const leave = () => {
    shared.shares--;
    if (shared.shares === 0 && servers.get(serverUrl) === shared) servers.delete(serverUrl);
  };
  try {
    const { server, stop } = await shared.starting;
    const release = once(async () => {
      leave();
      if (shared.shares === 0) await stop();
    });
    return { server, release };
  } catch (error) {
    leave();
    throw error;
  }
}

async function startServer(log: Logger, serverUrl: string): Promise<Started> {
  if (serverUrl !== "") return connect(serverUrl, undefined, log);
  const embedded = await startEmbeddedServer(log);
  return connect(embedded.adminUrl, embedded, log);
}

async function connect(
  adminUrl: string,
  embedded: EmbeddedServer | undefined,
  log: Logger,
): Promise<Started> {
  const pool = new pg.Pool({
    connectionString: adminUrl,
    max: connections,
    application_name: "offhook control",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  pool.on("error", () => {}); // A lost idle connection shows at the next query, which opens another.
  pool.on("connect", (client) => client.on("error", () => {})); // One in use tells the query that runs on it.
  try {
    const facts = await pool.query<{ version: number; superuser: boolean }>(
      `SELECT current_setting('server_version_num')::int AS version, rolsuper AS superuser
         FROM pg_roles WHERE rolname = current_user`,
    );
    const [{ version, superuser } = { version: 0, superuser: false }] = facts.rows;
    if (version < oldestVersion) {
      throw new Error("DATABASE_SERVER_URL names a Postgres before version 16; use 16 or later.");
    }
    // Whoever has a login may connect to a database, unless it says otherwise; template0 takes no connections at all.
    if (embedded) await pool.query("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC");
    const access = { adminUrl, superuser, query: (statement: string) => pool.query(statement) };
    const templates = createTemplates(access);
    const copies = createCopies({ ...access, copyStrategy: embedded ? "FILE_COPY" : "WAL_LOG" }, log);
    return {
      server: {
        ...access,
        templates,
        copies,
        outage: () => embedded?.outage(),
        settled: async () => embedded?.settled(),
      },
      stop: () =>
        everyStep([
          () => copies.settle(),
          () => (embedded ? undefined : copies.dropAll()),
          () => (embedded ? undefined : templates.dropAll()),
          () => pool.end(),
          () => embedded?.stop(),
        ]),
    };
  } catch (error) {
    await pool.end();
    await embedded?.stop();
    throw error;
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
