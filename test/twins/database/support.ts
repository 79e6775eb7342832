/** Starts the Postgres twin on its own, the way the platform does. */
import pg from "pg";
import { pino } from "pino";
import postgresTwin, { type PostgresTwin } from "../../../twins/database/index.ts";
import type { SandboxDatabase } from "../../../twins/database/sandbox-database.ts";
import type { Start } from "../../../twins/database/world/postgres-world.ts";
import type { TwinContext } from "../../../twins/sandbox/twin.ts";
import { twinContext } from "../../support/twin-context.ts";

export const silent = pino({ level: "silent" });

export function startPostgresTwin({
  config = {},
  ...given
}: Partial<TwinContext> & { config?: object } = {}): Promise<PostgresTwin> {
  return postgresTwin.start(twinContext("postgres", given), postgresTwin.config.parse(config));
}

/** A client of the code under test. Losing its connection at a reset is expected, and no crash. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** For a world that is not asked to bring back definitions. */
export function startOf({ definitions }: SandboxDatabase): Start {
  return { definitions, rebuild: () => Promise.reject(new Error("not to be rebuilt")) };
}
