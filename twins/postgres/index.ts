/**
 * The Postgres twin: a real Postgres server, one database per sandbox. Its `url` is a connection string, so there are no
 * operations over HTTP; the control plane works on the same tables as the code under test.
 */
import { readFile } from "node:fs/promises";
import { errorResponse, ownRefusal } from "@offhook/platform/http/errors";
import { defineTwin, type RunningTwin, type TwinContext } from "@offhook/platform/twin/twin";
import { DEFAULT_PROFILE, unknownProfile } from "@offhook/platform/world/world";
import pg from "pg";
import { z } from "zod";
import { everyStep } from "./every-step.ts";
import { postgresManual } from "./manual.ts";
import { readCopy, rebuild } from "./rebuild.ts";
import { createSandboxDatabase, type SandboxDatabase } from "./sandbox-database.ts";
import { leaseServer, type ServerLease } from "./server/server.ts";
import type { Recipe } from "./server/templates.ts";
import { isPlain, type StatementProxy, startStatementProxy } from "./statements/proxy.ts";
import { PostgresWorld } from "./world/postgres-world.ts";
import { unavailableOr } from "./world/unavailable.ts";

const config = z.strictObject({
  /** SQL that makes the tables; paths are relative to the environment file. Default: an empty database. */
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
  const read = async (file: string | undefined) => {
    if (file === undefined) return "";
    return readFile(context.resolvePath(file), "utf8").catch((reason: unknown) => {
      throw context.fileError(file, reason);
    });
  };
  const tables = await read(schema);
  const named = new Map<string, Recipe>();
  for (const [name, file] of Object.entries(profiles)) {
    named.set(name, { schema: tables, seed: await read(file) });
  }
  return { standard: { schema: tables, seed: await read(seed) }, named };
}

/** Runs SQL from files that the config names. Their errors name the files, for a reader who may see them. */
async function withFileErrors<Result>(
  context: TwinContext,
  { SCHEMA_PATH, SEED_PATH, profiles }: Config,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const files = [SCHEMA_PATH, SEED_PATH, ...Object.values(profiles)].filter((file) => file !== undefined);
    const isOfSql = error instanceof Error && error.cause instanceof pg.DatabaseError;
    if (!isOfSql || files.length === 0) throw error;
    throw context.fileError(files.join(", "), error);
  }
}

async function start(context: TwinContext, options: Config): Promise<PostgresTwin> {
  const recipes = await recipesOf(context, options);
  const lease = await leaseServer(context.log, process.env.DATABASE_SERVER_URL || undefined);
  let database: SandboxDatabase | undefined;
  try {
    database = await withFileErrors(context, options, () =>
      createSandboxDatabase(lease.server, context.sandbox, recipes.standard),
    );
    return await runTwin(context, options, recipes, lease, database);
  } catch (error) {
    await everyStep([() => database?.drop(), () => lease.release()]).catch((left: unknown) => {
      context.log.warn({ err: left }, "could not clean up the database server");
    });
    throw unavailableOr(error, lease.server.outage());
  }
}

async function runTwin(
  context: TwinContext,
  options: Config,
  recipes: Recipes,
  lease: ServerLease,
  database: SandboxDatabase,
): Promise<PostgresTwin> {
  const { log } = context;
  const { server } = lease;
  const baselineOf = (recipe: Recipe) => {
    let reading: ReturnType<typeof readCopy> | undefined;
    return () => {
      reading ??= readCopy({ database, server, log }, recipe).catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return reading;
    };
  };
  let readBaseline = baselineOf(recipes.standard);
  const world: PostgresWorld = await PostgresWorld.open(
    database.adminUrl,
    server,
    {
      definitions: database.definitions,
      readBaseline: async () => {
        try {
          return await readBaseline();
        } finally {
          void world.settled().then(() => database.tidy());
        }
      },
      rebuild: async (changes, tables) => {
        try {
          await world.replaceDatabase(await rebuild({ database, server, log }, changes, tables));
        } finally {
          void world.settled().then(() => database.tidy());
        }
      },
    },
    log,
  );
  const proxy = await statementProxy(context, database);
  void world.settled().then(() => database.tidy());
  return {
    world,
    url: proxy?.url ?? database.url,
    reset: async (profile) => {
      const recipe = recipeOf(recipes, profile);
      if (!recipe) throw unknownProfile(profile ?? DEFAULT_PROFILE, recipes.named.keys());
      const startedAt = performance.now();
      try {
        const replacement = await withFileErrors(context, options, () => database.replacement(recipe));
        await world.replaceDatabase(replacement);
        readBaseline = baselineOf(recipe);
      } catch (error) {
        throw unavailableOr(error, lease.server.outage());
      } finally {
        void world.settled().then(() => database.tidy());
      }
      context.log.debug({ tookMs: Math.round(performance.now() - startedAt) }, "replaced the database");
    },
    health: () => world.health(),
    stop: () =>
      everyStep([
        () => proxy?.stop(),
        () => world.close(),
        () => lease.server.settled(), // A restarting server must be up before anything on it can be dropped.
        () => database.drop(),
        () => lease.release(),
      ]),
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
    { id: "connection", method: "CONNECT", path: "/:database", summary: "A connection of a client." },
    { id: "statement", method: "QUERY", path: "/:database", summary: "A statement that a client runs." },
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
