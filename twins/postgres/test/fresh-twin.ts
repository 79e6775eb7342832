/** A twin for each test of a file, on one server, and a client of the code under test. */
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { connect, silent, startPostgresTwin } from "../testing/postgres-twin.ts";

interface FreshTwin {
  twin: PostgresTwin;
  client: pg.Client;
  lease: ServerLease;
}

/**
 * Starts and stops a twin around each test of the file. The server stays between them.
 * @param use takes what a test is to work with
 */
export function startTwinForEachTest(use: (fresh: FreshTwin) => void): void {
  let lease: ServerLease;
  beforeAll(async () => {
    lease = await leaseServer(silent);
  });
  afterAll(() => lease.release());
  let fresh: FreshTwin;
  beforeEach(async () => {
    const twin = await startPostgresTwin();
    fresh = { twin, client: await connect(twin.url), lease };
    use(fresh);
  });
  afterEach(async () => {
    await fresh.client.end().catch(() => {});
    await fresh.twin.stop();
  });
}
