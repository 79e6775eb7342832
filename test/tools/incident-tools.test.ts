import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import path from "node:path";
import type { RunningTwins } from "@offhook/platform/server/start";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import postgresTwin from "@offhook/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SAMPLES_FOLDER } from "../../scripts/shared/folders.ts";
import { loadTools } from "../../tools/registry.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { StandInCall } from "../support/stand-in-runtime.ts";

/** Runs tools the way the runtime does: through the agent's webhook. */
class Runtime {
  readonly #bench: AgentBench;
  readonly #call: StandInCall;
  #next = 0;

  constructor(bench: AgentBench, call: StandInCall) {
    this.#bench = bench;
    this.#call = call;
  }

  async run(name: string, args: object): Promise<unknown> {
    this.#next += 1;
    const toolCallList = [{ id: `call-${this.#next}`, function: { name, arguments: args } }];
    const { results } = await this.#bench.postTools(this.#call, { message: { toolCallList } });
    return JSON.parse(results[0]?.result ?? "");
  }
}

/** The tables of the project's own database. */
const hotline = {
  SCHEMA_PATH: path.join(SAMPLES_FOLDER, "tables/schema.sql"),
  SEED_PATH: path.join(SAMPLES_FOLDER, "tables/seed.sql"),
};

describe("the tools of the incident hotline, on the real database", () => {
  let twins: RunningTwins;
  let bench: AgentBench;
  let runtime: Runtime;
  beforeAll(async () => {
    twins = await startEnvironment(
      JSON.stringify({ version: 1, services: [{ name: "postgres", config: hotline }] }),
      { twins: [postgresTwin] },
    );
    const { environment } = addressesOf(twins, "postgres");
    bench = await startAgentBench({ tools: await loadTools(), env: environment });
    runtime = new Runtime(bench, (await bench.call()).runtimeCall);
  });
  afterAll(async () => {
    await bench.stop();
    await twins.stop();
  });

  test("who_is_on_call names engineer, phone and since when, however the service is spelled", async () => {
    const expected = {
      service: "checkout",
      engineer: "Maya Lindqvist",
      phone: "+46 8 5550 0101",
      since: "2026-03-02T08:00:00.000Z",
    };
    expect(await runtime.run("who_is_on_call", { service: "checkout" })).toEqual(expected);
    expect(await runtime.run("who_is_on_call", { service: " Checkout " })).toEqual(expected);
  });

  test("an unknown service is an error that names the known ones", async () => {
    const error = expect.stringContaining("checkout, identity, payments, search");
    expect(await runtime.run("who_is_on_call", { service: "legacy billing" })).toEqual({ error });
    const incident = { service: "legacy billing", severity: 2, title: "It is down" };
    expect(await runtime.run("open_incident", incident)).toEqual({ error });
  });

  test("open_incident writes the row, numbers it and says who is on call", async () => {
    const opened = await runtime.run("open_incident", {
      service: "checkout",
      severity: 2,
      title: "Customers see an error page; DROP TABLE incidents",
    });
    expect(opened).toEqual({
      id: "INC-1042",
      service: "checkout",
      severity: 2,
      title: "Customers see an error page; DROP TABLE incidents",
      status: "open",
      on_call: "Maya Lindqvist",
    });
    expect(await runtime.run("incident_status", { id: "INC-1042" })).toMatchObject({
      id: "INC-1042",
      status: "open",
      opened_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
    });
  });

  test("a severity out of range is refused with the field and the reason, and nothing is written", async () => {
    const before = await runtime.run("incident_status", { id: "INC-9999" });
    expect(await runtime.run("open_incident", { service: "checkout", severity: 9, title: "Bad" })).toEqual({
      error: expect.stringMatching(/^severity: .*4/),
    });
    expect(await runtime.run("incident_status", { id: "INC-9999" })).toEqual(before);
  });

  test("incident_status takes the id as people say it", async () => {
    const expected = { id: "INC-1041", service: "checkout", severity: 2, status: "investigating" };
    expect(await runtime.run("incident_status", { id: "INC-1041" })).toMatchObject(expected);
    expect(await runtime.run("incident_status", { id: "1041" })).toMatchObject(expected);
    expect(await runtime.run("incident_status", { id: "inc-1041" })).toMatchObject(expected);
  });

  test("an unknown incident is an error that names the latest ones", async () => {
    expect(await runtime.run("incident_status", { id: "INC-7" })).toEqual({
      error: expect.stringMatching(/there is no incident INC-7; the latest are .*INC-1041/),
    });
  });
});

describe("a database that is down", () => {
  test("is an error the model is told, without the password, and the call goes on", async () => {
    const bench = await startAgentBench({
      tools: await loadTools(),
      env: { DATABASE_URL: `postgres://agent:hunter2@127.0.0.1:${await closedPort()}/hotline` },
    });
    const { client, runtimeCall } = await bench.call();
    const runtime = new Runtime(bench, runtimeCall);
    expect(await runtime.run("who_is_on_call", { service: "checkout" })).toEqual({
      error: expect.stringContaining("ECONNREFUSED"),
    });
    expect(bench.captured.text()).not.toContain("hunter2");
    expect(client.closed).toBeUndefined();
    await bench.stop();
  });

  test("that takes connections but never answers is given up in time", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const bench = await startAgentBench({
      tools: await loadTools(),
      env: { DATABASE_URL: `postgres://agent:hunter2@127.0.0.1:${port}/hotline`, TOOL_TIMEOUT_MS: "300" },
    });
    const { runtimeCall } = await bench.call();
    const runtime = new Runtime(bench, runtimeCall);
    expect(await runtime.run("who_is_on_call", { service: "checkout" })).toEqual({
      error: "who_is_on_call did not answer within 300 ms",
    });
    await bench.stop();
    silent.close();
  });
});

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
