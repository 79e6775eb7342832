/** The MCP server, as its clients meet it: every tool, in a sandbox of the real twins with the real agent. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { PROJECT } from "../../../scripts/shared/folders.ts";
import { type House, type Stage, startHouse } from "../../../scripts/shared/house.ts";
import { Command } from "../../support/command.ts";
import { McpClient } from "./mcp-client.ts";

const SPEED = 20;
const object = z.record(z.string(), z.unknown());
const runAnswer = z.looseObject({ passed: z.boolean(), call_id: z.string(), simulation_id: z.string() });
const journalAnswer = z.object({
  requests: z.array(z.looseObject({ twin: z.string(), seq: z.number(), path: z.string() })),
  total: z.number(),
  next_offset: z.number().nullable(),
});

let house: House;
let stage: Stage;
let mcp: McpClient;
let run: z.output<typeof runAnswer>;
const progress: Progress[] = [];

beforeAll(async () => {
  house = await startHouse();
  stage = await house.openStage();
  mcp = await McpClient.start(house, stage.id, stage.voiceUrl);
  const scenario = { scenario: "open-incident", speed: SPEED };
  run = await mcp.call("run_scenario", scenario, runAnswer, (at) => progress.push(at));
});
afterAll(async () => {
  await mcp?.client.close();
  await house?.stop();
});

test("every tool has a title, a description that says when to use it, schemas and hints; the manual lists it", async () => {
  const { tools } = await mcp.client.listTools();
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    expect(title, name).toBeTruthy();
    expect(description?.length, name).toBeGreaterThan(60);
    expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema, name).toMatchObject({ type: "object" });
    expect(annotations?.readOnlyHint, name).toBe(/^(list|read)_/.test(name));
    if (annotations?.readOnlyHint) expect(annotations.destructiveHint, name).toBe(false);
    expect(annotations?.idempotentHint, name).toBeDefined();
  }
  const readme = readFileSync(path.join(PROJECT, "twins/mcp/README.md"), "utf8");
  const listed = [...readme.matchAll(/^\| `([a-z_]+)`/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(tools.map(({ name }) => name).sort());
});

test("scenarios: listed, run with progress, judged", async () => {
  const { scenarios } = await mcp.call(
    "list_scenarios",
    {},
    z.object({ scenarios: z.array(z.looseObject({ name: z.string() })) }),
  );
  expect(scenarios).toContainEqual(
    expect.objectContaining({
      name: "open-incident",
      tool_calls: ["who_is_on_call", "open_incident"],
      problem: null,
    }),
  );
  expect(run).toMatchObject({ scenario: "open-incident", passed: true, failures: [], outcome: "completed" });
  expect(run.tool_calls).toMatchObject([
    { name: "who_is_on_call", result: { engineer: "Maya Lindqvist" } },
    { name: "open_incident", arguments: { severity: 2 }, result: { status: "open" } },
  ]);
  const { pathname, search } = new URL(z.string().parse(run.console_url));
  expect([pathname, search]).toEqual([`/console/${stage.id}/calls/${run.call_id}`, ""]);
  expect(progress.map((at) => at.progress)).toEqual(progress.map((_, index) => index + 1));
  expect(progress.map((at) => at.message)).toContain("tool open_incident");
  const verdict = await mcp.call("read_verdict", { scenario: "open-incident" }, object);
  expect(verdict).toMatchObject({ passed: true, call_id: run.call_id, simulation_id: run.simulation_id });
  expect(await mcp.call("read_verdict", { simulation_id: run.simulation_id }, object)).toEqual(verdict);
});

test("calls: listed with their verdict, read with tools and what these asked; one entry piece by piece", async () => {
  const { calls } = await mcp.call("list_calls", { limit: 1 }, z.object({ calls: z.array(object) }));
  expect(calls).toMatchObject([{ id: run.call_id, scenario: "open-incident", passed: true, failures: 0 }]);
  const { entries } = await mcp.call(
    "read_call",
    { call_id: run.call_id },
    z.object({ entries: z.array(object) }),
  );
  expect(entries.map(({ kind }) => kind)).toEqual([
    "agent",
    "caller",
    "tool",
    "agent",
    "caller",
    "tool",
    "agent",
    "caller",
    "agent",
  ]);
  const [, , , answer, , tool] = entries;
  expect(answer?.latency).toMatchObject({ endpointing_ms: expect.any(Number), model_ms: expect.any(Number) });
  expect(tool).toMatchObject({
    name: "open_incident",
    result: { status: "open" },
    webhook: { attempts: [{ status: 200, error: null }] },
    requests: [{ twin: "postgres", sql: expect.stringContaining("INSERT INTO incidents") }],
  });
  const part = z.object({ text: z.string(), characters: z.number(), next_offset: z.number().nullable() });
  let [whole, offset]: [string, number | null] = ["", 0];
  while (offset !== null) {
    const read: z.output<typeof part> = await mcp.call(
      "read_call",
      { entry: 5, offset, max_text: 10_000 },
      part,
    );
    whole += read.text;
    offset = read.next_offset;
  }
  expect(JSON.parse(whole)).toMatchObject({ webhook: { request: { message: { type: "tool-calls" } } } });
});

test("the journal: filtered, paged, one request whole and in parts", async () => {
  const read = (args: object) => mcp.call("read_journal", { ...args }, journalAnswer);
  const { requests } = await read({ twin: "postgres", text: "INSERT INTO incidents" });
  expect(requests).toHaveLength(1);
  const created = await read({ path: "/c*l", method: "POST", status: "2xx" });
  expect(created.requests).toMatchObject([{ twin: "vapi", path: "/call" }]);
  expect((await read({ since: "2999-01-01T00:00:00Z" })).total).toBe(0);
  const first = await read({ limit: 1 });
  expect(first.next_offset).toBe(1);
  const second = await read({ limit: 1, offset: first.next_offset });
  expect(second.requests).not.toEqual(first.requests);

  const statement = { twin: "postgres", seq: requests[0]?.seq };
  const { request } = await mcp.call("read_request", statement, z.object({ request: object }));
  expect(request.body).toMatchObject({
    statement: expect.stringContaining("INSERT"),
    parameters: expect.anything(),
  });
  const call = { twin: "vapi", seq: created.requests[0]?.seq };
  const short = await mcp.call("read_request", { ...call, max_text: 100 }, z.object({ request: object }));
  expect(short.request.body).toMatchObject({ excerpt: expect.any(String), characters: expect.any(Number) });
  const part = await mcp.call("read_request", { ...call, member: "body", offset: 10, max_text: 100 }, object);
  expect(part).toMatchObject({ text: expect.any(String), next_offset: 110 });
});

test("rows: tables, rows by columns, and the difference since the last reset, which a reset takes away", async () => {
  const { tables } = await mcp.call(
    "list_tables",
    { twin: "postgres" },
    z.object({ tables: z.array(object) }),
  );
  expect(tables).toContainEqual(
    expect.objectContaining({ name: "incidents", columns: expect.objectContaining({ severity: "integer" }) }),
  );
  const rows = z.object({ rows: z.array(object), total: z.number(), next_offset: z.number().nullable() });
  const where = {
    twin: "postgres",
    table: "incidents",
    where: { status: "open" },
    columns: ["id", "status"],
  };
  const open = await mcp.call("read_rows", { ...where, limit: 1 }, rows);
  expect(open.rows).toEqual([{ id: expect.any(String), status: "open" }]);
  expect(open.next_offset).toBe(open.total > 1 ? 1 : null);
  const difference = { twin: "postgres", table: "incidents" };
  const before = await mcp.call("read_difference", difference, rows);
  expect(before.rows).toMatchObject([{ difference: "added", row: { status: "open", service: "checkout" } }]);
  await mcp.call("reset", { twin: "postgres" }, object);
  expect((await mcp.call("read_difference", difference, rows)).total).toBe(0);
});

test("a scenario that its client cancels hangs up and has no verdict, and the next one runs", async () => {
  const calls = z.object({ calls: z.array(object) });
  const faults = z.object({ faults: z.array(object) });
  await mcp.cancelAt("run_scenario", { scenario: "errors-worse-splunk-busy", speed: 1 }, /^caller: /);
  const next = { scenario: "ask-status", speed: SPEED };
  expect(await mcp.call("run_scenario", next, object)).toMatchObject({ passed: true });
  const listed = await mcp.call("list_calls", { limit: 2 }, calls);
  expect(listed.calls).toMatchObject([
    { scenario: "ask-status", passed: true },
    { scenario: "errors-worse-splunk-busy", passed: null, status: "ended", tool_calls: [] },
  ]);
  expect((await mcp.call("list_faults", {}, faults)).faults).toEqual([]);
});

test("faults: templates, armed by name and by members, listed with their hits, removed", async () => {
  const faults = z.object({ faults: z.array(z.looseObject({ id: z.string(), twin: z.string() })) });
  const { templates } = await mcp.call(
    "list_fault_templates",
    { twin: "vapi" },
    z.object({ templates: z.array(z.looseObject({ name: z.string() })) }),
  );
  const template = templates.find(({ name }) => name === "call.create: 503")?.name;
  await mcp.call("arm_fault", { twin: "vapi", template }, object);
  const fault = { effect: "slow", all: true, delay_ms: 5, times: 3 };
  await mcp.call("arm_fault", { twin: "postgres", fault }, object);
  const failed = await mcp.call(
    "run_scenario",
    { scenario: "ask-status", speed: SPEED },
    z.looseObject({ passed: z.boolean() }),
  );
  expect(failed).toMatchObject({ passed: false, outcome: "callee_no_answer" });
  const armed = await mcp.call("list_faults", {}, faults);
  const ofTheRuntime = armed.faults.find(({ twin }) => twin === "vapi");
  expect(armed.faults).toHaveLength(2);
  expect(ofTheRuntime).toMatchObject({ effect: "status", hits: 1 });
  const hit = await mcp.call("read_journal", { fault: "any" }, journalAnswer);
  expect(hit.requests).toMatchObject([{ twin: "vapi", path: "/call", status: 503 }]);
  const one = { twin: "vapi", id: ofTheRuntime?.id };
  expect(await mcp.call("remove_faults", one, object)).toEqual({ removed: 1 });
  expect(await mcp.call("remove_faults", {}, object)).toEqual({ removed: 1 });
});

test("the clock is set, frozen, moved on and given back", async () => {
  const set = (args: object) =>
    mcp.call("set_clock", { ...args }, z.looseObject({ now: z.string(), mode: z.string() }));
  await set({ now: "2026-03-29T01:00:00Z", frozen: true });
  expect(await set({ advance_ms: 90_000 })).toMatchObject({
    now: "2026-03-29T01:01:30.000Z",
    mode: "frozen",
  });
  expect(await mcp.call("read_clock", {}, object)).toMatchObject({ now: "2026-03-29T01:01:30.000Z" });
  expect(await set({ speed: 60 })).toMatchObject({ speed: 60 });
  expect(await set({ advance_ms: 1000 })).toMatchObject({ speed: 60 });
  expect(await set({ live: true })).toMatchObject({ mode: "live" });
});

test("twins: listed, their manuals without keys, and all reset at once", async () => {
  const { twins } = await mcp.call(
    "list_twins",
    {},
    z.object({ twins: z.array(z.looseObject({ name: z.string() })) }),
  );
  expect(twins.map(({ name }) => name).sort()).toEqual([
    "elasticsearch",
    "engine",
    "postgres",
    "splunk",
    "vapi",
  ]);
  for (const twin of twins) expect(twin.status, twin.name).toBe("ok");
  expect(twins.find(({ name }) => name === "postgres")?.url).toMatch(/^postgres:\/\/[^:@]+@127/);
  const { manual } = await mcp.call("read_manual", { twin: "postgres" }, z.object({ manual: object }));
  expect(manual).toMatchObject({ twin: "postgres", notes: expect.any(Array) });
  expect(manual).not.toHaveProperty("environment");
  const reset = await mcp.call("reset", {}, z.object({ twins: z.array(object) }));
  expect(reset.twins).toHaveLength(twins.length);
  expect((await mcp.call("list_calls", {}, z.looseObject({ total: z.number() }))).total).toBe(0);
});

test.each([
  ["run_scenario", { scenario: "pizza" }, /there is no scenario "pizza"; there are .*open-incident/],
  ["run_scenario", { scenario: "open-incident", speed: 500 }, /speed/],
  ["run_scenario", { name: "open-incident" }, /it takes scenario, speed, framing/],
  [
    "read_rows",
    { twin: "oracle", table: "t" },
    /there is no twin "oracle" in this sandbox; it has .*postgres/,
  ],
  ["read_rows", { twin: "postgres", table: "pizzas" }, /pizzas/],
  ["read_rows", { twin: "postgres", table: "incidents", columns: ["taste"] }, /no column taste; it has id/],
  ["read_rows", { twin: "postgres", table: "incidents", where: { limit: "1" } }, /limit is no column/],
  ["read_difference", { twin: "postgres", table: "pizzas" }, /no table "pizzas"; it has .*incidents/],
  ["read_request", { twin: "postgres", seq: 999_999 }, /999999 is not in the journal/],
  ["read_call", { call_id: "nobody" }, /there is no call nobody/],
  [
    "read_verdict",
    { scenario: "two-tools" },
    /there is no verdict on any run of two-tools: run_scenario makes one/,
  ],
  ["arm_fault", { twin: "vapi", template: "melts" }, /no template "melts"; among others it has "/],
  ["arm_fault", { twin: "vapi" }, /exactly one of template .* and fault/],
  [
    "arm_fault",
    { twin: "postgres", fault: { effect: "truncate", all: true } },
    /not reached over HTTP: must be one of/,
  ],
  ["remove_faults", { id: "fault-1" }, /give twin beside id/],
  ["set_clock", { live: true, speed: 2 }, /give live, or advance_ms, or/],
  ["read_journal", { since: "yesterday" }, /must be an ISO time such as/],
  ["bake_pizza", {}, /bake_pizza not found/],
])("%s of %o is refused as a result, and says what would be right", async (name, args, words) => {
  expect(await mcp.refusal(name, args)).toMatch(words);
});

test("without twins every answer says how to start them, and standard output has nothing but the protocol", async () => {
  const hello = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "list_twins", arguments: {} } },
  ];
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
  const { stdout, exitCode } = await new Command("mcp.ts", [], {}, input).finished();
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => object.parse(JSON.parse(line)));
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  expect(JSON.stringify(answers[1])).toContain("start them with npm run dev");
  expect(exitCode).toBe(0);
});

test("no tool was left out of these tests", async () => {
  const { tools } = await mcp.client.listTools();
  const called = new Set(mcp.called);
  expect(tools.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});
