/** The Postgres server of this process: one, shared by every sandbox, started by the first and stopped by the last. */
import pg from "pg";
import type { Logger } from "pino";
import { type EmbeddedServer, startEmbeddedServer } from "./embedded-server.ts";
import { createTemplates, type Templates } from "./templates.ts";

export interface Server {
  adminUrl: string;
  /** Runs one statement as the administrator, in the database `adminUrl` names. */
  query(statement: string): Promise<pg.QueryResult<Record<string, unknown>>>;
  /** Whether the administrator may make roles and event triggers; true for the embedded server. */
  superuser: boolean;
  /** How a database is copied: as files where nothing is ever forced to disk, else through the write-ahead log. */
  copyStrategy: "FILE_COPY" | "WAL_LOG";
  templates: Templates;
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
let shares = 0;
let current: Promise<Started> | undefined;

/**
 * The server to work on: the one `serverUrl` names (`DATABASE_SERVER_URL`), else the embedded one.
 * @throws Error when it cannot be reached, is too old, or cannot be started
 */
export async function leaseServer(log: Logger, serverUrl?: string): Promise<ServerLease> {
  if (serverUrl) {
    const started = await connect(serverUrl, undefined);
    return { server: started.server, release: once(started.stop) };
  }
  shares++;
  current ??= startEmbeddedServer(log).then((embedded) => connect(embedded.adminUrl, embedded));
  const starting = current;
  const giveBack = once(async () => {
    shares--;
    if (shares > 0) return;
    current = undefined;
    await (await starting).stop();
  });
  try {
    return { server: (await starting).server, release: giveBack };
  } catch (error) {
    shares--;
    if (current === starting) current = undefined;
    throw error;
  }
}

async function connect(adminUrl: string, embedded: EmbeddedServer | undefined): Promise<Started> {
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2, application_name: "offhook control" });
  pool.on("error", () => {}); // A lost idle connection shows at the next query, which opens another.
  try {
    const facts = await pool.query<{ version: number; superuser: boolean }>(
      `SELECT current_setting('server_version_num')::int AS version, rolsuper AS superuser
         FROM pg_roles WHERE rolname = current_user`,
    );
    const [{ version, superuser } = { version: 0, superuser: false }] = facts.rows;
    if (version < oldestVersion) {
      throw new Error("DATABASE_SERVER_URL names a Postgres before version 16; use 16 or later.");
    }
    const access = { adminUrl, superuser, query: (statement: string) => pool.query(statement) };
    const templates = createTemplates(access);
    return {
      server: { ...access, templates, copyStrategy: embedded ? "FILE_COPY" : "WAL_LOG" },
      stop: async () => {
        if (!embedded) await templates.dropAll();
        await pool.end();
        await embedded?.stop();
      },
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
