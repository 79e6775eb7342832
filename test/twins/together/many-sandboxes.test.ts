import path from "node:path";
import type { RunningTwins, TwinAddresses } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { type AskSandboxes, sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { tables } from "@offhook/postgres/testing/tables";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

import { registry } from "../../../twins/registry.ts";

const postgres = { name: "postgres", config: tables };

const MANY = 200;
const WITH_DATABASE = 6;
/** Copies of a template that wait to be used. */
const COPIES_AHEAD = 2;

let twins: RunningTwins;
let ask: AskSandboxes;
beforeAll(async () => {
  twins = await startEnvironment(
    JSON.stringify({
      version: 1,
      request_folders: [path.dirname(tables.SCHEMA_PATH)],
      services: [{ name: "vapi" }, postgres],
    }),
    { twins: registry },
  );
  ask = sandboxRoutes(twins);
});
afterAll(() => twins.stop());

function twin(answer: { body: { twins: TwinAddresses[] } }, name: string): TwinAddresses {
  const found = answer.body.twins.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no twin ${name}`);
  return found;
}

const control = (method: string, { control_url }: TwinAddresses, path: string, body?: unknown) =>
  request(method, `${control_url}/sim${path}`, {
    headers: { "x-api-key": twins.apiKey },
    ...(body === undefined ? {} : { body }),
  });

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  // A reset or the end of a sandbox ends its connections.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

test(`${MANY} sandboxes with engine and voice runtime run side by side and never see one another`, async () => {
  const services = [{ name: "vapi" }];
  const ids = Array.from({ length: MANY }, (_, index) => `many-${index}`);
  const made = await Promise.all(ids.map((id) => ask("POST", "", { id, services })));
  expect(made.map(({ status }) => status)).toEqual(Array(MANY).fill(201));
  expect((await ask("GET")).body.sandboxes).toHaveLength(MANY + 1);

  // Each writes the same simulation and an assistant of its own name.
  await Promise.all(
    made.map(async (sandbox) => {
      await request("POST", `${twin(sandbox, "engine").url}/simulations`, { body: { id: "run" } });
      const headers = { authorization: "Bearer vapi-twin-key" };
      const body = { name: sandbox.body.id };
      await request("POST", `${twin(sandbox, "vapi").url}/assistant`, { headers, body });
    }),
  );
  // Every other one is reset as a whole.
  await Promise.all(ids.filter((_, index) => index % 2 === 0).map((id) => ask("POST", `/${id}/reset`)));
  await Promise.all(
    made.map(async (sandbox, index) => {
      const left = index % 2;
      const counts = await control("GET", twin(sandbox, "engine"), "/data");
      expect(counts.body.counts.simulations).toBe(left);
      const assistants = await control("GET", twin(sandbox, "vapi"), "/data?entity_type=assistants");
      expect(assistants.body.total).toBe(left);
      if (left) expect(JSON.stringify(assistants.body.rows)).toContain(`"${ids[index]}"`);
      const seen = await control("GET", twin(sandbox, "vapi"), "/requests?tier=vendor");
      expect(seen.body.total).toBe(1);
    }),
  );
  const ended = await Promise.all(ids.map((id) => ask("DELETE", `/${id}`)));
  expect(ended.map(({ status }) => status)).toEqual(Array(MANY).fill(204));
  expect((await ask("GET")).body.sandboxes).toHaveLength(1);
});

test("sandboxes with databases never see one another; resets and ends are of one alone, and nothing stays", async () => {
  const dev = twins.sandboxes[0]?.twins.find(({ name }) => name === "postgres");
  const made = await Promise.all(
    Array.from({ length: WITH_DATABASE }, (_, index) =>
      ask("POST", "", {
        id: `base-${index}`,
        services: [postgres],
        layout: index ? "split" : "legacy",
      }),
    ),
  );
  const databases = made.map((sandbox) => twin(sandbox, "postgres"));
  // A database twin is reached by its connection string and driven over HTTP, whatever the layout.
  for (const { url, control_url, environment } of databases) {
    expect(url).toMatch(/^postgres(ql)?:\/\//);
    expect(environment).toEqual({ DATABASE_URL: url });
    expect(control_url).toMatch(/^http:\/\//);
  }
  expect(databases[0]).toMatchObject({
    control_url: `${twins.baseUrl}/s/base-0/postgres`,
    control_auth: null,
  });
  expect((await request("GET", `${twins.baseUrl}/s/base-0/postgres/sim/health`)).status).toBe(200);

  const insert = "INSERT INTO incidents (service, severity, title) VALUES ('checkout', 1, 'from a test')";
  await Promise.all(databases.map(({ url }) => query(url, insert)));
  expect((await ask("POST", "/base-1/reset")).status).toBe(200);
  const counts = await Promise.all(
    databases.map(
      async ({ url }) => (await query(url, "SELECT count(*)::int AS n FROM incidents")).rows[0].n,
    ),
  );
  expect(counts).toEqual([4, 3, ...Array(WITH_DATABASE - 2).fill(4)]);
  const strange = new URL(databases[2]?.url ?? "");
  strange.pathname = new URL(databases[3]?.url ?? "").pathname;
  await expect(query(strange.href, "SELECT 1")).rejects.toThrow(/permission denied/);

  // A snapshot while the database is made anew is of before or of after.
  const [, , used] = databases;
  if (!used) throw new Error("no database");
  const work = Array.from({ length: 12 }, (_, index) =>
    index % 4 === 3 ? ask("POST", "/base-2/reset") : control("POST", used, "/snapshot"),
  );
  for (const { status, body } of await Promise.all(work)) {
    expect(status).toBe(200);
    if (!body.tables) continue;
    expect(body.tables.services).toHaveLength(4);
    expect([3, 4]).toContain(body.tables.incidents.length);
  }

  await Promise.all(made.map(({ body }) => ask("DELETE", `/${body.id}`)));
  for (const { url } of databases) await expect(query(url, "SELECT 1")).rejects.toThrow();
  expect((await query(dev?.url ?? "", "SELECT count(*)::int AS n FROM incidents")).rows[0].n).toBe(3);
});

test("a sandbox that has ended leaves no socket, no thread, no database and no role behind", async () => {
  const dev = twins.sandboxes[0]?.twins.find(({ name }) => name === "postgres")?.url ?? "";
  // Copies are made ahead in the background, so a round may end before or after one.
  const kept = async () => {
    const { rows } = await query(
      dev,
      `SELECT (SELECT count(*)::int FROM pg_database WHERE NOT starts_with(datname, 'offhook_copy_')) AS databases,
              (SELECT count(*)::int FROM pg_database WHERE starts_with(datname, 'offhook_copy_')) AS copies,
              (SELECT count(*)::int FROM pg_roles) AS roles`,
    );
    const [{ copies, ...counted }] = rows;
    return { copies, counted };
  };
  const resources = () => process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout").length;
  const round = async () => {
    const made = await ask("POST", "", { ttl_seconds: 3600 });
    expect(made.body.twins).toHaveLength(3);
    // A reset that runs while the sandbox ends must not make anew what has just been removed.
    const resets = Array.from({ length: 3 }, () => control("POST", twin(made, "postgres"), "/reset"));
    const [ended] = await Promise.all([ask("DELETE", `/${made.body.id}`), Promise.allSettled(resets)]);
    expect(ended.status).toBe(204);
  };
  await round();
  const [{ counted }, before] = [await kept(), resources()];
  for (let index = 0; index < 10; index++) await round();
  expect((await kept()).counted).toEqual(counted);
  await expect.poll(async () => (await kept()).copies).toBeLessThanOrEqual(COPIES_AHEAD);
  // Each leak would count ten times; a connection kept alive by the test's own client may come and go.
  expect(resources()).toBeLessThan(before + 8);
});
