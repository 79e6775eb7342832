/** Template databases: each recipe's SQL is run once per server, and copied as often as needed. */
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";

/** The SQL a database is made from. */
export interface Recipe {
  schema: string;
  seed: string;
}

export interface Templates {
  /** Name of the recipe's template database. @throws Error naming the script and the problem when its SQL does not run */
  of(recipe: Recipe): Promise<string>;
  dropAll(): Promise<void>;
}

/**
 * Owns the tables of every sandbox, as role `offhook_application`. Sandboxes are kept apart by the right to connect,
 * which each database gives to its own login role alone.
 */
export const tableOwner = "offhook_application";

const watchScript = new URL("../watch.sql", import.meta.url);

export interface TemplateServer {
  adminUrl: string;
  superuser: boolean;
  query(statement: string): Promise<unknown>;
}

export function createTemplates(server: TemplateServer): Templates {
  const made = new Map<string, Promise<string>>();
  return {
    of: (recipe) => {
      const hash = createHash("sha256")
        .update(JSON.stringify([recipe.schema, recipe.seed]))
        .digest("hex");
      const known = made.get(hash);
      if (known) return known;
      const making = makeTemplate(server, recipe, hash.slice(0, 12));
      made.set(hash, making);
      making.catch(() => made.delete(hash));
      return making;
    },
    dropAll: async () => {
      for (const template of made.values()) {
        const name = await template.catch(() => undefined);
        if (name) await server.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
      }
      made.clear();
    },
  };
}

async function makeTemplate(server: TemplateServer, recipe: Recipe, hash: string): Promise<string> {
  const name = `offhook_template_${hash}_${randomBytes(4).toString("hex")}`;
  await server.query(`CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE template0`);
  if (server.superuser) await makeTableOwner(server);
  const client = new pg.Client({ connectionString: databaseUrl(server.adminUrl, name) });
  try {
    await client.connect();
    if (server.superuser) {
      await client.query(`ALTER SCHEMA public OWNER TO ${tableOwner}`);
      await client.query(`GRANT CREATE ON DATABASE ${pg.escapeIdentifier(name)} TO ${tableOwner}`);
      await client.query(`SET ROLE ${tableOwner}`);
    }
    await runScript(client, "schema", recipe.schema);
    await runScript(client, "seed", recipe.seed);
    await client.query("RESET ALL; RESET ROLE");
    await client.query(await readFile(watchScript, "utf8"));
  } catch (error) {
    await client.end();
    await server.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
    throw error;
  }
  await client.end();
  return name;
}

/** Two sandboxes may start at once; the second finds the role there. */
function makeTableOwner(server: TemplateServer): Promise<unknown> {
  return server.query(
    `DO $$ BEGIN CREATE ROLE ${tableOwner} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
  );
}

async function runScript(client: pg.Client, script: string, sql: string): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const line = error.position ? sql.slice(0, Number(error.position)).split("\n").length : undefined;
    const where = line ? `, line ${line}` : "";
    throw new Error(`The ${script} SQL of the postgres twin does not run${where}: ${error.message}`, {
      cause: error,
    });
  }
}

/** The address of another database on the same server, as its own login or as the administrator. */
export function databaseUrl(
  adminUrl: string,
  database: string,
  login?: { name: string; password: string },
): string {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  if (login) {
    url.username = login.name;
    url.password = login.password;
  }
  return url.href;
}
