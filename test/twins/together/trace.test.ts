import engine from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import postgres from "@offhook/postgres";
import { connect } from "@offhook/postgres/testing/postgres-twin";
import { postgresService } from "@offhook/postgres/testing/tables";
import { afterAll, beforeAll, expect, test } from "vitest";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startEnvironment(`version: 1\nservices: [${postgresService}]\n`, {
    twins: [engine, postgres],
  });
});
afterAll(() => twins.stop());

const call = (method: string, path: string, body?: unknown) =>
  request(method, `${twins.baseUrl}${path}`, { body });

/** Until it is later than a time of the sandbox's clock, which counts milliseconds. */
const until = (time: string) => expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(time));

test("a trace holds what the twins were asked from the simulation's start to its end, among the agent's events", async () => {
  const client = await connect(addressesOf(twins, "postgres").url);
  await client.query("SELECT 'before'");
  const { id } = (await call("POST", "/simulations")).body;
  await client.query("SELECT $1::text", ["within"]);
  const event = { service: "agent", event_type: "note", data: { about: "it" } };
  const told = await call("POST", `/simulations/${id}/events`, event);
  await until(told.body.received_at);
  await client.query("SELECT nothing").catch(() => undefined);
  const ended = await call("POST", `/simulations/${id}/end`);
  expect(ended.body).toMatchObject({ id, ended_at: expect.any(String) });
  await until(ended.body.ended_at);
  await client.query("SELECT 'after'");
  await client.end();
  const { trace } = (await call("GET", `/simulations/${id}/trace`)).body;
  expect(
    trace.filter(({ body }: { body?: { statement: string } }) => body?.statement !== "SELECT 'before'"),
  ).toMatchObject([
    {
      source: "vendor",
      service: "postgres",
      kind: "request",
      method: "QUERY",
      body: { statement: "SELECT $1::text", parameters: ["within"] },
      status: 200,
      response: { command: "SELECT 1", rows: 1 },
    },
    { source: "agent", service: "agent", kind: "event", event_type: "note", data: { about: "it" } },
    {
      source: "vendor",
      body: { statement: "SELECT nothing" },
      status: 400,
      response: { error: { sqlstate: "42703" } },
    },
  ]);
  const offsets = trace.map(({ offset_ms }: { offset_ms: number }) => offset_ms);
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
});

test("a simulation that was ended stays ended at that time, and takes reports that come late", async () => {
  const { id } = (await call("POST", "/simulations")).body;
  const first = (await call("POST", `/simulations/${id}/end`)).body.ended_at;
  await until(first);
  expect((await call("POST", `/simulations/${id}/end`)).body.ended_at).toBe(first);
  const event = { service: "agent", event_type: "note", data: {} };
  expect((await call("POST", `/simulations/${id}/events`, event)).status).toBe(201);
  expect((await call("GET", `/simulations/${id}/trace`)).body.trace).toHaveLength(1);
  expect((await call("POST", "/simulations/none/end")).status).toBe(404);
});
