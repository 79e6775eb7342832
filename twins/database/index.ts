/**
 * The Postgres twin: a real Postgres server, one database per sandbox. Its `url` is a connection string, so there are no
 * operations over HTTP; the control plane works on the same tables as the code under test.
 */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { errorResponse, ownRefusal } from "../sandbox/errors.ts";
import { defineTwin, type RunningTwin, type TwinContext } from "../sandbox/twin.ts";
import { DEFAULT_PROFILE, unknownProfile } from "../sandbox/world.ts";
import { everyStep } from "./every-step.ts";
import { postgresManual } from "./manual.ts";
import { createSandboxDatabase, type SandboxDatabase } from "./sandbox-database.ts";
import { leaseServer, type ServerLease } from "./server/server.ts";
import type { Recipe } from "./server/templates.ts";
import { isPlain, type StatementProxy, startStatementProxy } from "./statements/proxy.ts";
import { PostgresWorld } from "./world/postgres-world.ts";

const config = z.strictObject({
  /** SQL that makes the tables; paths are relative to the environment file. Default: the incident hotline's. */
  SCHEMA_PATH: z.string().optional(),
  /** SQL that fills them at start and at each reset. */
  SEED_PATH: z.string().optional(),
  /** Named alternatives to the seed, for `POST /sim/reset {"profile": …}`. */
  profiles: z.record(z.string(), z.string()).default({}),
});
type Config = z.output<typeof config>;

export interface PostgresTwin extends RunningTwin {
  world: PostgresWorld;
  url: string;
}

interface Recipes {
  standard: Recipe;
  named: Map<string, Recipe>;
}

async function recipesOf(
  context: TwinContext,
  { SCHEMA_PATH: schema, SEED_PATH: seed, profiles }: Config,
): Promise<Recipes> {
  const read = (file: string | undefined, standard: string) =>
    readFile(file === undefined ? new URL(standard, import.meta.url) : context.resolvePath(file), "utf8");
  const tables = await read(schema, "./schema.sql");
  const seedSql = schema !== undefined && seed === undefined ? "" : await read(seed, "./seed.sql");
  const named = new Map<string, Recipe>();
  for (const [name, file] of Object.entries(profiles)) {
    named.set(name, { schema: tables, seed: await read(file, "./seed.sql") });
  }
  return { standard: { schema: tables, seed: seedSql }, named };
}

async function start(context: TwinContext, options: Config): Promise<PostgresTwin> {
  const recipes = await recipesOf(context, options);
  const lease = await leaseServer(context.log, process.env.DATABASE_SERVER_URL || undefined);
  let database: SandboxDatabase | undefined;
  try {
    database = await createSandboxDatabase(lease.server, context.sandbox, recipes.standard);
    return await running(context, recipes, lease, database);
  } catch (error) {
    await everyStep([() => database?.drop(), () => lease.release()]).catch((left: unknown) => {
      context.log.warn({ err: left }, "the database server was not left as it was found");
    });
    throw error;
  }
}

async function running(
  context: TwinContext,
  recipes: Recipes,
  lease: ServerLease,
  database: SandboxDatabase,
): Promise<PostgresTwin> {
  const world = await PostgresWorld.open(database.adminUrl, lease.server.superuser, context.log);
  const proxy = await statementProxy(context, database);
  void world.rest().then(() => database.tidy());
  return {
    world,
    url: proxy?.url ?? database.url,
    reset: async (profile) => {
      const recipe = recipeOf(recipes, profile);
      if (!recipe) throw unknownProfile(profile ?? DEFAULT_PROFILE, recipes.named.keys());
      const startedAt = performance.now();
      try {
        await world.whileReplaced(await database.replacement(recipe));
      } finally {
        void world.rest().then(() => database.tidy());
      }
      context.log.debug({ tookMs: Math.round(performance.now() - startedAt) }, "database made anew");
    },
    stop: () =>
      everyStep([() => proxy?.stop(), () => world.close(), () => database.drop(), () => lease.release()]),
  };
}

/** Statements cannot be read out of an encrypted connection. */
async function statementProxy(
  { journal, faults, log }: TwinContext,
  { url }: SandboxDatabase,
): Promise<StatementProxy | undefined> {
  if (isPlain(url)) return startStatementProxy({ url, journal, faults, log });
  log.warn("DATABASE_SERVER_URL asks for encryption: /sim/requests will not show statements");
  return undefined;
}

function recipeOf({ standard, named }: Recipes, profile: string | undefined): Recipe | undefined {
  if (profile === undefined) return standard;
  return named.get(profile) ?? (profile === DEFAULT_PROFILE ? standard : undefined);
}

export default defineTwin<Config, PostgresTwin>({
  name: "postgres",
  vendor: "PostgreSQL",
  versions: ["18"],
  config,
  operations: [],
  connections: [
    { id: "connection", summary: "A connection of a client." },
    { id: "statement", summary: "A statement that a client runs." },
  ],
  refusal: (refusal) =>
    refusal.kind === "unknown-path"
      ? errorResponse(
          404,
          "not_found",
          "Postgres does not speak HTTP; connect with the connection string in DATABASE_URL",
        )
      : ownRefusal(refusal),
  credentials: (url) => [decodeURIComponent(new URL(url).password)],
  manual: postgresManual,
  start,
  clientEnvironment: (url) => ({ DATABASE_URL: url }),
});
