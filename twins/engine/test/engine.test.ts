import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import engine from "../index.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
});
afterAll(() => twins.stop());

const call = (method: string, path: string, body?: unknown) =>
  request(method, `${twins.baseUrl}${path}`, { body });

async function newSimulation(): Promise<string> {
  const created = await call("POST", "/simulations", {});
  expect(created.status).toBe(201);
  return created.body.id;
}

const toolCall = {
  service: "agent",
  event_type: "agent_tool_call",
  data: { name: "who_is_on_call", arguments: { service: "checkout" }, result: { engineer: "Ada" } },
};

describe("simulations", () => {
  test("the engine answers at the gateway's root and at its own address", async () => {
    const id = await newSimulation();
    const answer = await request("GET", `${addressesOf(twins, "engine").url}/simulations/${id}`);
    expect(answer.body).toMatchObject({ id, events: 0, scenario: null, metadata: {} });
  });

  test("a simulation keeps the id, scenario and metadata it is given", async () => {
    const given = { id: "run-1", scenario: "open-incident", metadata: { build: 7 } };
    const created = await call("POST", "/simulations", given);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject(given);
    expect((await call("GET", "/simulations/run-1")).body).toMatchObject(given);
  });

  test("a second simulation with the same id is a conflict", async () => {
    const id = await newSimulation();
    const again = await call("POST", "/simulations", { id });
    expect(again.status).toBe(409);
    expect(again.body.error.code).toBe("conflict");
  });

  test("an id that is invalid in a path and an unknown key are refused together", async () => {
    const refused = await call("POST", "/simulations", { id: "../x", name: "no" });
    expect(refused.status).toBe(422);
    const fields = refused.body.error.problems.map((problem: { field: string }) => problem.field);
    expect(fields).toEqual(expect.arrayContaining(["id", "name"]));
  });
});

describe("events", () => {
  test("events come back in the order in which they were reported", async () => {
    const id = await newSimulation();
    for (let index = 0; index < 5; index++) {
      const event = { service: "agent", event_type: "note", data: { index } };
      expect((await call("POST", `/simulations/${id}/events`, event)).status).toBe(201);
    }
    const { events } = (await call("GET", `/simulations/${id}/events`)).body;
    expect(events.map((event: { data: { index: number } }) => event.data.index)).toEqual([0, 1, 2, 3, 4]);
  });

  test("an unknown simulation is a 404 on every route, and nothing is stored", async () => {
    for (const [method, path, body] of [
      ["POST", "/simulations/none/events", toolCall],
      ["GET", "/simulations/none", undefined],
      ["GET", "/simulations/none/events", undefined],
      ["GET", "/simulations/none/trace", undefined],
    ] as const) {
      const answer = await call(method, path, body);
      expect(answer.status).toBe(404);
      expect(answer.body.error).toMatchObject({ code: "not_found" });
    }
  });

  test.each([
    ["no event_type", { service: "agent", data: {} }, "event_type"],
    ["an empty service", { service: "", event_type: "x", data: {} }, "service"],
    ["data that is no object", { service: "agent", event_type: "x", data: [1] }, "data"],
    ["an unknown key", { service: "agent", event_type: "x", data: {}, extra: 1 }, "extra"],
    ["a tool call without a name", { ...toolCall, data: { arguments: {}, result: 1 } }, "data.name"],
    ["a tool call without a result", { ...toolCall, data: { name: "x", arguments: {} } }, "data.result"],
    [
      "a tool call whose arguments are text",
      { ...toolCall, data: { name: "x", arguments: "{}", result: 1 } },
      "data.arguments",
    ],
  ])("a malformed event is refused, named and not stored: %s", async (_name, event, field) => {
    const id = await newSimulation();
    const refused = await call("POST", `/simulations/${id}/events`, event);
    expect(refused.status).toBe(422);
    expect(refused.body.error.problems.map((problem: { field: string }) => problem.field)).toContain(field);
    expect((await call("GET", `/simulations/${id}/events`)).body.events).toEqual([]);
  });

  test("a body that is not JSON is a 400 and nothing is stored", async () => {
    const id = await newSimulation();
    expect((await call("POST", `/simulations/${id}/events`, "{nope")).status).toBe(400);
    expect((await call("GET", `/simulations/${id}`)).body.events).toBe(0);
  });

  test("an event beyond the size limit is a 413 in the engine's error shape", async () => {
    const id = await newSimulation();
    const event = { service: "agent", event_type: "note", data: { text: "x".repeat(300_000) } };
    const refused = await call("POST", `/simulations/${id}/events`, event);
    expect(refused.status).toBe(413);
    expect(refused.body.error.code).toBe("body_too_large");
  });
});

test("one simulation takes ten thousand events and no more, shows them in pages, and leaves room for others", async () => {
  const full = await newSimulation();
  const event = (index: number) => ({
    simulation_id: full,
    service: "agent",
    event_type: "note",
    data: { index },
  });
  await request("POST", `${addressesOf(twins, "engine").control_url}/sim/data`, {
    headers: { "x-api-key": twins.apiKey },
    body: { data: { events: Array.from({ length: 10_000 }, (_, index) => event(index)) } },
  });
  const events = (query: string) => call("GET", `/simulations/${full}/events${query}`);
  const shown = ({ body }: Awaited<ReturnType<typeof call>>) =>
    body.events.map(({ data }: { data: { index: number } }) => data.index);
  const unpaged = await events("");
  expect(unpaged.body).toMatchObject({ total: 10_000, limit: 1000, offset: 0 });
  expect(shown(unpaged)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  const last = await events("?limit=3&offset=9998");
  expect(last.body).toMatchObject({ total: 10_000, limit: 3, offset: 9998 });
  expect(shown(last)).toEqual([9998, 9999]);
  for (const wrong of ["?limit=1001", "?limit=-1", "?offset=x", "?page=2"]) {
    expect((await events(wrong)).status).toBe(422);
  }
  const refused = await call("POST", `/simulations/${full}/events`, toolCall);
  expect(refused.status).toBe(429);
  expect(refused.body.error.code).toBe("too_many_events");
  const other = await newSimulation();
  expect((await call("POST", `/simulations/${other}/events`, toolCall)).status).toBe(201);
});

test("the trace has tool calls with arguments and result, and other events unchanged, in time order", async () => {
  const id = await newSimulation();
  await call("POST", `/simulations/${id}/events`, { service: "agent", event_type: "note", data: { a: 1 } });
  await call("POST", `/simulations/${id}/events`, toolCall);
  const { simulation, trace } = (await call("GET", `/simulations/${id}/trace`)).body;
  expect(simulation.id).toBe(id);
  expect(trace).toMatchObject([
    { kind: "event", service: "agent", event_type: "note", data: { a: 1 } },
    { kind: "tool_call", service: "agent", ...toolCall.data },
  ]);
  expect(trace[0].offset_ms).toBeGreaterThanOrEqual(0);
});

test("a tool call whose result is null is a tool call like any other", async () => {
  const id = await newSimulation();
  const event = { ...toolCall, data: { ...toolCall.data, result: null } };
  expect((await call("POST", `/simulations/${id}/events`, event)).status).toBe(201);
  const { trace } = (await call("GET", `/simulations/${id}/trace`)).body;
  expect(trace).toMatchObject([{ kind: "tool_call", result: null }]);
});
