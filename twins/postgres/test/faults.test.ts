import { performance } from "node:perf_hooks";
import engine from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import postgres from "../index.ts";
import { connect } from "../testing/postgres-twin.ts";
import { postgresService } from "../testing/tables.ts";

let twins: RunningTwins;
const clients: pg.Client[] = [];
beforeAll(async () => {
  twins = await startEnvironment(`version: 1\nservices: [${postgresService}]\n`, {
    twins: [engine, postgres],
  });
});
afterEach(async () => {
  await control("DELETE", "/faults");
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
});
afterAll(() => twins.stop());

const control = (method: string, path: string, body?: unknown) =>
  request(method, `${addressesOf(twins, "postgres").control_url}/sim${path}`, {
    headers: { "x-api-key": twins.apiKey },
    body,
  });

async function open(): Promise<pg.Client> {
  const client = await connect(addressesOf(twins, "postgres").url);
  clients.push(client);
  return client;
}

const hits = async () => (await control("GET", "/faults")).body.faults[0].hits;
const insert = "INSERT INTO services (name, description) VALUES ($1, 'made by a test')";

test("reset: the connection breaks before the statement is run, and the next statement of a new one works", async () => {
  const client = await open();
  await control("POST", "/faults", { effect: "reset", operation: "statement", times: 1 });
  await expect(client.query(insert, ["reset"])).rejects.toThrow(/ECONNRESET|terminated/);
  const { rows } = await (await open()).query("SELECT name FROM services WHERE name = 'reset'");
  expect(rows).toEqual([]);
  const { requests } = (await control("GET", "/requests?tier=vendor&operation=statement")).body;
  const hit = requests.filter(({ fault }: { fault: unknown }) => fault !== null);
  expect(hit).toMatchObject([{ fault: "fault-1 reset", body: { statement: insert } }]);
});

test("hang: the statement waits until the fault is removed, and then is run; other connections go on", async () => {
  const client = await open();
  const other = await open();
  const match = { json: { statement: "SELECT 1 AS one" } };
  await control("POST", "/faults", { effect: "hang", operation: "statement", match });
  let answered = false;
  const asked = client.query("SELECT 1 AS one").finally(() => {
    answered = true;
  });
  await expect.poll(hits).toBe(1);
  expect((await other.query("SELECT 2 AS two")).rows).toEqual([{ two: 2 }]);
  expect(answered).toBe(false);
  await control("DELETE", "/faults");
  expect((await asked).rows).toEqual([{ one: 1 }]);
});

test("slow: the statement is run after the delay", async () => {
  const client = await open();
  await control("POST", "/faults", { effect: "slow", operation: "statement", delay_ms: 120, times: 1 });
  const startedAt = performance.now();
  await client.query("SELECT 1");
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
});

test("a new connection is reset, and the next one is not", async () => {
  await control("POST", "/faults", { effect: "reset", operation: "connection", times: 1 });
  await expect(open()).rejects.toThrow(/ECONNRESET|terminated/);
  expect((await (await open()).query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  const { requests } = (await control("GET", "/requests?operation=connection")).body;
  expect(requests.at(-1)).toMatchObject({ status: null, fault: expect.stringMatching(/ reset$/) });
});

test.each([
  ["a status", { effect: "status", status: 503, all: true }, ["effect"]],
  ["a cut answer", { effect: "truncate", operation: "nothing" }, ["effect", "operation"]],
  ["a reset in the middle", { effect: "reset", at: "body", all: true }, ["at"]],
  ["slowness by bytes", { effect: "slow", bytes_per_second: 5, all: true }, ["bytes_per_second", "delay_ms"]],
])("%s cannot be armed, and the answer says why", async (_what, fault, fields) => {
  const { status, body } = await control("POST", "/faults", fault);
  expect(status).toBe(422);
  const named = body.error.problems.map(({ field }: { field: string }) => field);
  expect(named.sort()).toEqual(fields.sort());
});
