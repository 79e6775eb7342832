/** One sandbox's database: copied from a template when the sandbox starts, and copied anew when it is reset. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Server } from "./server/server.ts";
import { databaseUrl, type Recipe, tableOwner } from "./server/templates.ts";

export interface SandboxDatabase {
  /** What the code under test connects with: the owner of this one database's tables, no superuser. */
  url: string;
  /** What the control plane connects with. */
  adminUrl: string;
  /** Makes the database anew, from another recipe if one is given. The server ends the connections open to it. */
  recreate(recipe?: Recipe): Promise<void>;
  drop(): Promise<void>;
}

const connectionsPerSandbox = 60;

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

  const create = async (template: string) => {
    await server.query(
      `CREATE DATABASE ${name} TEMPLATE ${pg.escapeIdentifier(template)} STRATEGY ${server.copyStrategy}`,
    );
    if (!server.superuser) return;
    await server.query(
      `REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
       GRANT CONNECT ON DATABASE ${name} TO ${name};
       GRANT CREATE, TEMPORARY ON DATABASE ${name} TO ${tableOwner}`,
    );
  };

  const drop = async () => {
    await server.query(endConnections(login.name));
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };

  const template = await server.templates.of(recipe);
  if (server.superuser) {
    await server.query(
      `CREATE ROLE ${name} LOGIN PASSWORD '${login.password}' CONNECTION LIMIT ${connectionsPerSandbox} IN ROLE ${tableOwner};
       ALTER ROLE ${name} SET role = ${tableOwner}`,
    );
  }
  await create(template);

  return {
    url: databaseUrl(server.adminUrl, login.name, server.superuser ? login : undefined),
    adminUrl: databaseUrl(server.adminUrl, login.name),
    recreate: async (other) => {
      const next = await server.templates.of(other ?? recipe);
      await drop();
      await create(next);
    },
    drop: async () => {
      await drop();
      if (server.superuser) await server.query(`DROP ROLE IF EXISTS ${name}`);
    },
  };
}

/**
 * Ends every connection to a database and waits, a second at most, until they are gone. `DROP … WITH (FORCE)` does so too,
 * but looks only every 100 ms whether they are.
 */
function endConnections(database: string): string {
  const sessions = `FROM pg_stat_activity WHERE datname = ${pg.escapeLiteral(database)}`;
  return `DO $$ BEGIN
    PERFORM pg_terminate_backend(pid) ${sessions};
    FOR i IN 1..1000 LOOP
      PERFORM pg_stat_clear_snapshot();
      EXIT WHEN NOT EXISTS (SELECT ${sessions});
      PERFORM pg_sleep(0.001);
    END LOOP;
  END $$`;
}
