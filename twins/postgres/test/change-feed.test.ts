import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { connect, silent } from "../testing/postgres-twin.ts";
import { openChangeFeed } from "../world/change-feed.ts";

let lease: ServerLease;
beforeAll(async () => {
  lease = await leaseServer(silent);
});
afterAll(() => lease.release());

describe("the connection that watches for changes", () => {
  // The client says so once per process only, so this has to be the first test of the file.
  it("sends one statement at a time, however many ask whether they have seen everything", async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on("warning", listen);
    const feed = await openChangeFeed(
      { connectionString: lease.server.adminUrl },
      () => {},
      () => {},
    );
    await Promise.all(Array.from({ length: 10 }, () => feed.catchUp()));
    await feed.close();
    await new Promise((resolve) => setImmediate(resolve)); // Warnings are emitted in the next tick.
    process.off("warning", listen);
    expect(warnings).toEqual([]);
  });

  it("hands over what was committed before each of those who ask", async () => {
    const heard: unknown[] = [];
    const feed = await openChangeFeed(
      { connectionString: lease.server.adminUrl },
      (notice) => heard.push(notice),
      () => {},
    );
    const teller = await connect(lease.server.adminUrl);
    const asked: Promise<void>[] = [];
    for (let n = 1; n <= 20; n++) {
      const notice = JSON.stringify({ change: "load", tables: [String(n)] });
      await teller.query("SELECT pg_notify('offhook_watch', $1)", [`${n} 1 1 ${notice}`]);
      asked.push(
        feed.catchUp().then(() => {
          expect(heard.length).toBeGreaterThanOrEqual(n);
        }),
      );
    }
    await Promise.all(asked);
    expect(heard).toHaveLength(20);
    await Promise.all([feed.close(), teller.end()]);
  });

  it("fails for who asks when it is lost, and for nobody later than that", async () => {
    let lost: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      lost = resolve;
    });
    const feed = await openChangeFeed(
      { connectionString: lease.server.adminUrl, application_name: "to be lost" },
      () => {},
      () => lost?.(),
    );
    await lease.server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to be lost'",
    );
    await ended;
    const outcomes = await Promise.allSettled([feed.catchUp(), feed.catchUp()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await feed.close();
  });
});
