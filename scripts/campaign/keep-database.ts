/** The keeper of the embedded database of campaigns; `database.ts` says who starts it. Its argument is the folder. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ADDRESS_FILE, DATA_FOLDER, LEASE_NAME } from "@offhook/campaign/own-server";
import { startLastingServer } from "@offhook/postgres/server/embedded-server";
import pg from "pg";
import { pino } from "pino";

/** How long it waits for the first program, and after the last for another. */
const FIRST_MS = 5_000;
const IDLE_MS = 2_000;
const LOOK_MS = 500;
/** How long it bears with a server that does not answer; it starts a killed one again meanwhile. */
const OUTAGE_MS = 60_000;

const [folder = ""] = process.argv.slice(2);
// What it has left to say nobody may read.
process.stderr.on("error", () => undefined);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());

try {
  // A keeper that is not the first fails here, on the lock of the data.
  const server = await startLastingServer(join(folder, DATA_FOLDER), pino({ level: "silent" }));
  const file = join(folder, ADDRESS_FILE);
  writeFileSync(`${file}.${process.pid}`, server.adminUrl, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
  await untilUnused(server.adminUrl);
  rmSync(file, { force: true });
  await server.stop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function untilUnused(url: string): Promise<void> {
  let usedAtMs = performance.now();
  let answeredAtMs = performance.now();
  let patienceMs = FIRST_MS;
  while (!stopping.signal.aborted) {
    const leases = await countLeases(url);
    const nowMs = performance.now();
    if (leases !== undefined) answeredAtMs = nowMs;
    if (leases === undefined || leases > 0) usedAtMs = nowMs;
    if (leases !== undefined && leases > 0) patienceMs = IDLE_MS;
    if (nowMs - usedAtMs > patienceMs || nowMs - answeredAtMs > OUTAGE_MS) return;
    await pause(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}

/** @returns `undefined` when the server does not answer */
async function countLeases(url: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: OUTAGE_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ leases: number }>(
      "SELECT count(*)::int AS leases FROM pg_stat_activity WHERE application_name = $1",
      [LEASE_NAME],
    );
    return rows[0]?.leases;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
