/** Template databases: each recipe's SQL runs once per server; sandboxes get copies of the result. */
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { everyStep } from "../every-step.ts";
import { type Catalogue, readCatalogue } from "../world/catalogue.ts";
import { CONNECT_MS } from "../world/connection.ts";
import { type Definition, readDefinitions } from "../world/definitions.ts";
import { sessionOptions } from "../world/values.ts";

/** The SQL a database is made from. */
export interface Recipe {
  schema: string;
  seed: string;
}

export interface Template {
  /** Name of the database. */
  name: string;
  bytes: number;
  /** Of the template, and so of every fresh copy. */
  catalogue: Catalogue;
  definitions: readonly Definition[];
}

export interface Templates {
  /** The recipe's template database. @throws Error naming the script and the problem when its SQL does not run */
  of(recipe: Recipe): Promise<Template>;
  /** Tries to drop all. @throws the first error */
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
  /** Whether the administrator may make roles and event triggers; true for the embedded server. */
  superuser: boolean;
  /** Runs statements as the administrator, in the database `adminUrl` names. */
  query(statement: string): Promise<pg.QueryResult<Record<string, unknown>>>;
}

export function createTemplates(server: TemplateServer): Templates {
  const made = new Map<string, Promise<Template>>();
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
      const templates = await Promise.allSettled(made.values());
      made.clear();
      await everyStep(
        templates
          .filter((template) => template.status === "fulfilled")
          .map(
            ({ value }) =>
              () =>
                dropTemplate(server, value.name),
          ),
      );
    },
  };
}

async function makeTemplate(server: TemplateServer, recipe: Recipe, hash: string): Promise<Template> {
  const name = `offhook_template_${hash}_${randomBytes(4).toString("hex")}`;
  const database = pg.escapeIdentifier(name);
  await server.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  try {
    if (server.superuser) {
      await makeTableOwner(server);
      await server.query(
        `REVOKE ALL ON DATABASE ${database} FROM PUBLIC; GRANT CREATE ON DATABASE ${database} TO ${tableOwner}`,
      );
    }
    const connectionString = databaseUrl(server.adminUrl, name);
    await withClient({ connectionString }, (client) => fill(client, server, recipe));
    return await withClient({ connectionString, options: sessionOptions }, async (client) => {
      const catalogue = await readCatalogue(client);
      const { rows } = await client.query<{ bytes: string }>(
        "SELECT pg_database_size(current_database()) AS bytes",
      );
      const definitions = await readDefinitions(client);
      return { name, bytes: Number(rows[0]?.bytes), catalogue, definitions };
    });
  } catch (error) {
    await dropTemplate(server, name);
    throw error;
  }
}

/** Runs work on a connection of its own, and closes that. */
export async function withClient<T>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: CONNECT_MS });
  client.on("error", () => {}); // The statement under way, or the next one, has the error.
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

async function fill(client: pg.Client, { superuser }: TemplateServer, recipe: Recipe): Promise<void> {
  if (superuser) {
    await client.query(`ALTER SCHEMA public OWNER TO ${tableOwner}`);
    await client.query(`SET ROLE ${tableOwner}`);
  }
  await runScript(client, "schema", recipe.schema);
  await runScript(client, "seed", recipe.seed);
  await client.query("RESET ALL; RESET ROLE");
  await client.query(await readFile(watchScript, "utf8"));
  // The first read of a row sets its hint bits, which say that its transaction committed. Freezing here saves every copy that work:
  // the first count of 10,000 rows is ten times faster.
  await client.query("VACUUM (FREEZE)");
  // Postgres logs a sequence's numbers 32 ahead. A WAL_LOG copy believes them logged, but has no log: after a crash it would issue its
  // first numbers again. After setval a sequence logs its next number.
  await client.query(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, last_value)
       FROM pg_sequences WHERE last_value IS NOT NULL`,
  );
}

async function dropTemplate(server: TemplateServer, name: string): Promise<void> {
  await server.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
}

/** Two sandboxes may start at once; the second finds the role existing. */
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

/** The connection string of a database on the same server. @param login the administrator when absent */
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
