/** Starts the Postgres twin on its own, the way the platform does. */
import pg from "pg";
import { pino } from "pino";
import postgresTwin, { type PostgresTwin } from "../../../twins/database/index.ts";
import { liveClock } from "../../../twins/sandbox/clock.ts";

export const silent = pino({ level: "silent" });

export function startPostgresTwin(
  options: { sandbox?: string; config?: object; resolvePath?: (path: string) => string } = {},
): Promise<PostgresTwin> {
  const sandbox = options.sandbox ?? "dev";
  const context = {
    sandbox,
    name: "postgres",
    url: `http://127.0.0.1/s/${sandbox}/postgres`,
    clock: liveClock,
    log: silent,
    resolvePath: options.resolvePath ?? ((path: string) => path),
  };
  return postgresTwin.start(context, postgresTwin.config.parse(options.config ?? {}));
}

/** A client of the code under test. Losing its connection at a reset is expected, and no crash. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
