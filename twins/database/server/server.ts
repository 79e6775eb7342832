/** The Postgres server of this process: one, shared by every sandbox, started by the first and stopped by the last. */
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { type Copies, createCopies } from "./copies.ts";
import { type EmbeddedServer, startEmbeddedServer } from "./embedded-server.ts";
import { createTemplates, type TemplateServer, type Templates } from "./templates.ts";

export interface Server extends TemplateServer {
  templates: Templates;
  copies: Copies;
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
let shares = 0;
let current: Promise<Started> | undefined;

/**
 * The server to work on: the one `serverUrl` names (`DATABASE_SERVER_URL`), else the embedded one.
 * @throws Error when it cannot be reached, is too old, or cannot be started
 */
export async function leaseServer(log: Logger, serverUrl?: string): Promise<ServerLease> {
  if (serverUrl) {
    const started = await connect(serverUrl, undefined, log);
    return { server: started.server, release: once(started.stop) };
  }
  shares++;
  current ??= startEmbeddedServer(log).then((embedded) => connect(embedded.adminUrl, embedded, log));
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

async function connect(
  adminUrl: string,
  embedded: EmbeddedServer | undefined,
  log: Logger,
): Promise<Started> {
  const pool = new pg.Pool({
    connectionString: adminUrl,
    max: connections,
    application_name: "offhook control",
  });
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
    // Whoever has a login may connect to a database, unless it says otherwise; template0 takes no connections at all.
    if (embedded) await pool.query("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC");
    const access = { adminUrl, superuser, query: (statement: string) => pool.query(statement) };
    const templates = createTemplates(access);
    const copies = createCopies({ ...access, copyStrategy: embedded ? "FILE_COPY" : "WAL_LOG" }, log);
    return {
      server: { ...access, templates, copies },
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
