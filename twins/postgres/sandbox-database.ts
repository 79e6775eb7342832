/** One sandbox's database: a copy of a template, and another copy in its place when the sandbox is reset. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { everyStep } from "./every-step.ts";
import type { Server } from "./server/server.ts";
import { databaseUrl, type Recipe, type Template, tableOwner } from "./server/templates.ts";
import type { Catalogue } from "./world/catalogue.ts";
import type { Definition } from "./world/definitions.ts";

export interface SandboxDatabase {
  /** What the code under test connects with: the owner of this one database's tables, no superuser. */
  url: string;
  /** What the control plane connects with. */
  adminUrl: string;
  /** The tables it has at its start. */
  catalogue: Catalogue;
  /** What it defines at its start. */
  definitions: readonly Definition[];
  /** Makes a fresh database to replace it by, from another recipe if one is given. Nothing changes until it is put in place. */
  replacement(recipe?: Recipe): Promise<Replacement>;
  /** In the background, drops what was replaced and makes the next copies ahead: for when nobody waits for the database. */
  tidy(): void;
  /** Drops it, and waits until those it has replaced are gone as well. */
  drop(): Promise<void>;
}

/** A fresh database, to be put in place once. */
export interface Replacement {
  catalogue: Catalogue;
  /**
   * Puts it where the sandbox's database is: in one step, so that somebody who connects finds the one or the other. The
   * server ends the connections open to the old one, which `tidy` drops.
   */
  putInPlace(): Promise<void>;
  /** Lets it be worked on before it is put in place: the addresses of its login and of the administrator. */
  open(): Promise<{ url: string; adminUrl: string }>;
  /** Drops it, when it is not to be put in place. */
  discard(): void;
}

const connectionsPerSandbox = 60;
/** Renaming takes a millisecond. It waits for whoever has connected meanwhile, which is no use. */
const renameTimeoutMs = 50;

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
  /** Gives a copy this database's name, and its login the right to connect. */
  const naming = (copy: string) =>
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
         SELECT set_config('statement_timeout', '${renameTimeoutMs}', true);
         ALTER DATABASE ${name} RENAME TO ${old};
         ${naming(copy)}`,
      );
      replaced.push(old);
    } catch (error) {
      // Somebody has connected in between, or there is no such database. Dropping keeps newcomers out.
      if (!(error instanceof pg.DatabaseError)) {
        replaced.push(old); // Whether it was renamed is not known.
        throw error;
      }
      await dropDatabase();
      await server.query(naming(copy));
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
        `CREATE ROLE ${name} LOGIN PASSWORD '${login.password}' CONNECTION LIMIT ${connectionsPerSandbox} IN ROLE ${tableOwner};
         ALTER ROLE ${name} SET role = ${tableOwner}`,
      );
    }
    await server.query(naming(first));
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
 * Ends every connection to a database and waits, a second at most, until they are gone. `DROP … WITH (FORCE)` does so too,
 * but looks only every 100 ms whether they are. Sessions without a user are the server's own, which it ends itself.
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
