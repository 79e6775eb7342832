/** The database of one sandbox: a copy of a template, which a reset replaces by another copy. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { everyStep } from "./every-step.ts";
import type { Server } from "./server/server.ts";
import { databaseUrl, type Recipe, type Template, tableOwner } from "./server/templates.ts";
import type { Catalogue } from "./world/catalogue.ts";
import type { Definition } from "./world/definitions.ts";

export interface SandboxDatabase {
  /** For the code under test: the owner of this database's tables, no superuser. */
  url: string;
  /** For the control plane. */
  adminUrl: string;
  /** At its start. */
  catalogue: Catalogue;
  /** At its start. */
  definitions: readonly Definition[];
  /** Makes a fresh database, from another recipe if given. Nothing changes until it is put in place. */
  replacement(recipe?: Recipe): Promise<Replacement>;
  /** Drops replaced databases and makes spare copies, in the background. Call it when nobody waits for the database. */
  tidy(): void;
  /** Drops it, and waits until the replaced databases are dropped as well. */
  drop(): Promise<void>;
}

/** A fresh database, to be put in place once. */
export interface Replacement {
  catalogue: Catalogue;
  /**
   * Replaces the sandbox's database in one step, so that a client always connects to one or the other. Connections to the old one are
   * ended, and `tidy` drops it.
   */
  putInPlace(): Promise<void>;
  /** Opens it for work before it is put in place. @returns the connection strings of its login and of the administrator */
  open(): Promise<{ url: string; adminUrl: string }>;
  /** Drops it instead of putting it in place. */
  discard(): void;
}

const MAX_CONNECTIONS = 60;
/** Renaming takes a millisecond, unless it waits for a client that connected meanwhile: that is of no use. */
const RENAME_TIMEOUT_MS = 50;

/** @throws Error naming the script and the statement's problem when the schema or the seed does not run */
export async function createSandboxDatabase(
  server: Server,
  sandbox: string,
  recipe: Recipe,
): Promise<SandboxDatabase> {
  const prefix = sandbox.replaceAll(/[^A-Za-z0-9]+/g, "_").slice(0, 40);
  const login = {
    name: `${prefix}_${randomBytes(4).toString("hex")}`,
    password: randomBytes(18).toString("base64url"),
  };
  const name = pg.escapeIdentifier(login.name);
  let dropped = false;
  let replaced: string[] = [];
  const dropping = new Set<Promise<void>>();

  const dropReplaced = () => {
    for (const old of replaced) {
      const done = server.copies.discard(old);
      dropping.add(done);
      void done.then(() => dropping.delete(done));
    }
    replaced = [];
  };
  /** SQL that gives a copy this database's name, and its login the right to connect. */
  const renameSql = (copy: string) =>
    `${server.superuser ? `GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(copy)} TO ${name};` : ""}
     ALTER DATABASE ${pg.escapeIdentifier(copy)} RENAME TO ${name}`;

  const dropDatabase = async () => {
    await server.query(endConnections(login.name));
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  const dropRole = async () => {
    if (server.superuser) await server.query(`DROP ROLE IF EXISTS ${name}`);
  };

  const replaceBy = async (copy: string) => {
    const old = `offhook_old_${randomBytes(6).toString("hex")}`;
    try {
      await server.query(
        `${endConnections(login.name)};
         SELECT set_config('statement_timeout', '${RENAME_TIMEOUT_MS}', true);
         ALTER DATABASE ${name} RENAME TO ${old};
         ${renameSql(copy)}`,
      );
      replaced.push(old);
    } catch (error) {
      // A client has connected in between, or the database is gone. Dropping it keeps new clients out.
      if (!(error instanceof pg.DatabaseError)) {
        replaced.push(old); // It may have been renamed.
        throw error;
      }
      await dropDatabase();
      await server.query(renameSql(copy));
    }
  };

  const replacementFrom = async (template: Template): Promise<Replacement> => {
    const copy = await server.copies.take(template);
    let opened = false;
    return {
      catalogue: template.catalogue,
      open: async () => {
        opened = true;
        if (server.superuser) {
          await server.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(copy)} TO ${name}`);
        }
        return {
          url: databaseUrl(server.adminUrl, copy, server.superuser ? login : undefined),
          adminUrl: databaseUrl(server.adminUrl, copy),
        };
      },
      discard: () => {
        replaced.push(copy);
        dropReplaced();
      },
      putInPlace: async () => {
        try {
          if (opened) await server.query(endConnections(copy));
          await replaceBy(copy);
        } catch (error) {
          replaced.push(copy);
          throw error;
        }
        latest = template;
      },
    };
  };

  let latest = await server.templates.of(recipe);
  const { catalogue, definitions } = latest;
  const first = await server.copies.take(latest);
  try {
    if (server.superuser) {
      await server.query(
        `CREATE ROLE ${name} LOGIN PASSWORD '${login.password}' CONNECTION LIMIT ${MAX_CONNECTIONS} IN ROLE ${tableOwner};
         ALTER ROLE ${name} SET role = ${tableOwner}`,
      );
    }
    await server.query(renameSql(first));
  } catch (error) {
    await everyStep([() => server.copies.discard(first), dropRole]);
    throw error;
  }

  return {
    url: databaseUrl(server.adminUrl, login.name, server.superuser ? login : undefined),
    adminUrl: databaseUrl(server.adminUrl, login.name),
    catalogue,
    definitions,
    replacement: async (other) => replacementFrom(await server.templates.of(other ?? recipe)),
    tidy: () => {
      if (dropped) return;
      dropReplaced();
      server.copies.makeAhead(latest);
    },
    drop: async () => {
      dropped = true;
      dropReplaced();
      await everyStep([dropDatabase, async () => void (await Promise.all(dropping)), dropRole]);
    },
  };
}

/**
 * SQL that ends every connection to a database and waits for their end, a second at most. `DROP … WITH (FORCE)` does so too, but polls
 * only every 100 ms. Sessions without a user are the server's own, which it ends itself.
 */
function endConnections(database: string): string {
  const sessions = `FROM pg_stat_activity WHERE datname = ${pg.escapeLiteral(database)} AND usesysid IS NOT NULL`;
  return `DO $$ BEGIN
    PERFORM pg_terminate_backend(pid) ${sessions};
    FOR i IN 1..1000 LOOP
      PERFORM pg_stat_clear_snapshot();
      EXIT WHEN NOT EXISTS (SELECT ${sessions});
      PERFORM pg_sleep(0.001);
    END LOOP;
  END $$`;
}
