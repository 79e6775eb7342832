/** The Postgres server of this process, shared by all sandboxes: the first starts it, the last stops it. */
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
  /** Why the server cannot be reached and what to do, if its process is known not to run. */
  outage(): string | undefined;
  /** Resolves when no restart is under way. */
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

const MIN_VERSION = 160_000;
/** Two for callers, one for background work. */
const MAX_CONNECTIONS = 3;
/** Running servers, by the requested address; it is empty for the embedded one. */
const servers = new Map<string, { starting: Promise<Started>; shares: number }>();

/**
 * Leases the server at `serverUrl` (`DATABASE_SERVER_URL`), else the embedded one. All sandboxes of one server share its templates, so
 * that a seed with generated times or ids gives each sandbox the same.
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
    max: MAX_CONNECTIONS,
    application_name: "offhook control",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  pool.on("error", () => {}); // The next query replaces a lost idle connection.
  pool.on("connect", (client) => client.on("error", () => {})); // A running query gets the error itself.
  try {
    const facts = await pool.query<{ version: number; superuser: boolean }>(
      `SELECT current_setting('server_version_num')::int AS version, rolsuper AS superuser
         FROM pg_roles WHERE rolname = current_user`,
    );
    const [{ version, superuser } = { version: 0, superuser: false }] = facts.rows;
    if (version < MIN_VERSION) {
      throw new Error("DATABASE_SERVER_URL names a Postgres before version 16; use 16 or later.");
    }
    // By default every role may connect to every database; template0 accepts no connections at all.
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
