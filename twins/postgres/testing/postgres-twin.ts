/** Starts the Postgres twin on its own, the way the platform does. */

import { twinContext } from "@offhook/platform/testing/twin-context";
import type { TwinContext } from "@offhook/platform/twin/twin";
import pg from "pg";
import { pino } from "pino";
import postgresTwin, { type PostgresTwin } from "../index.ts";
import type { SandboxDatabase } from "../sandbox-database.ts";
import type { Start } from "../world/postgres-world.ts";
import { tables } from "./tables.ts";

export const silent = pino({ level: "silent" });

export function startPostgresTwin({
  config = tables,
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
