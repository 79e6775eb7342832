import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Watched } from "@offhook/platform/testing/watched";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { registryOf } from "../../tools/registry.ts";
import { defineTool } from "../../tools/tool.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { VoiceClientOptions } from "../support/voice-client.ts";

const parameters = z.object({ service: z.string() });
const tools = registryOf([
  {
    tool: defineTool({
      name: "look_up",
      description: "Answers with what JSON has no word for.",
      parameters,
      run: async ({ service }) => {
        const engineer: Record<string, unknown> = { name: "Ada", since: new Date(0), shifts: 3n };
        engineer.self = engineer;
        return { service, engineer, tags: new Map([["a", new Set([1])]]) };
      },
    }),
  },
  {
    tool: defineTool({
      name: "fail",
      description: "Throws.",
      parameters,
      run: async () => {
        throw new Error("no such service");
      },
    }),
  },
]);

interface EngineRequest {
  method: string | undefined;
  url: string | undefined;
  contentType: string | undefined;
  body: unknown;
}

/** An engine that notes what it is sent and answers as told. */
class NotingEngine {
  readonly requests: EngineRequest[] = [];
  /** How its connections ended. */
  readonly ends: ("by the agent" | "by itself")[] = [];
  answer: "accept" | "refuse" | "hang" = "accept";
  readonly #watched = new Watched();
  readonly #server;

  /** @param keepAliveTimeout how long it keeps idle connections */
  constructor(keepAliveTimeout = 5_000) {
    this.#server = createServer(
      { keepAliveTimeout },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.on("connection", (socket) => {
      let end: (typeof this.ends)[number] = "by itself";
      socket.once("end", () => {
        end = "by the agent";
      });
      socket.once("close", () => {
        this.ends.push(end);
        this.#watched.changed();
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  received(count: number): Promise<void> {
    return this.#watched.until(() => this.requests.length >= count, `${count} events`);
  }

  closed(count: number): Promise<void> {
    return this.#watched.until(() => this.ends.length >= count, `${count} closed connections`);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    this.requests.push({
      method: request.method,
      url: request.url,
      contentType: request.headers["content-type"],
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    if (this.answer === "accept") response.writeHead(201).end("{}");
    if (this.answer === "refuse") response.writeHead(404).end('{"error":"unknown simulation"}');
    this.#watched.changed();
  }
}

describe("events to the engine", () => {
  let engine: NotingEngine;
  let bench: AgentBench;
  beforeEach(() => {
    engine = new NotingEngine();
  });
  afterEach(() => bench.stop());

  async function start(env: Record<string, string> = {}): Promise<void> {
    bench = await startAgentBench({ tools, env: { ENGINE_URL: await engine.start(), ...env } });
  }
  const toolCalls = (...items: object[]) => ({ message: { toolCallList: items } });
  const lookUp = { id: "1", name: "look_up", arguments: { service: "checkout" } };
  const fail = { id: "2", name: "fail", arguments: '{"service":"checkout"}' };

  test("each tool call is reported once, in the exact shape, on success and on error", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    const { runtimeCall } = await bench.call();
    const unknown = { id: "3", name: "nobody", arguments: "not json" };
    const { results } = await bench.postTools(runtimeCall, toolCalls(lookUp, fail, unknown));
    await bench.postTools(runtimeCall, toolCalls(lookUp));
    await engine.received(3);
    expect(engine.requests).toHaveLength(3);
    for (const request of engine.requests) {
      expect(request).toMatchObject({
        method: "POST",
        url: "/simulations/sim-1/events",
        contentType: "application/json",
      });
    }
    const engineer = { name: "Ada", since: "1970-01-01T00:00:00.000Z", shifts: "3", self: "[circular]" };
    const result = { service: "checkout", engineer, tags: { a: [1] } };
    const bodies = engine.requests.map((request) => request.body);
    expect(bodies).toContainEqual({
      service: "agent",
      event_type: "agent_tool_call",
      data: { name: "look_up", arguments: { service: "checkout" }, result },
    });
    expect(bodies).toContainEqual({
      service: "agent",
      event_type: "agent_tool_call",
      data: { name: "fail", arguments: { service: "checkout" }, result: { error: "no such service" } },
    });
    expect(bodies).toContainEqual({
      service: "agent",
      event_type: "agent_tool_call",
      data: {
        name: "nobody",
        arguments: { value: "not json" },
        result: { error: expect.stringContaining("there is no tool nobody") },
      },
    });
    // The model sees the same values.
    expect(JSON.parse(results[0]?.result ?? "")).toEqual(result);
    engine.stop();
  });

  const named: [string, VoiceClientOptions, string][] = [
    ["X-Simulation-Id", { headers: { "x-simulation-id": "sim-2" } }, "sim-2"],
    ["?simulation=", { query: "simulation=sim-2" }, "sim-2"],
    ["both, alike", { headers: { "x-simulation-id": "sim-2" }, query: "simulation=sim-2" }, "sim-2"],
    ["an empty one, which is none", { query: "simulation=" }, "sim-1"],
  ];
  test.each(named)(
    "the connection's simulation wins, and goes to the runtime as metadata: %s",
    async (_place, options, simulationId) => {
      await start({ SIMULATION_ID: "sim-1" });
      const { runtimeCall } = await bench.call(options);
      expect(runtimeCall.request.assistant.metadata).toEqual({ simulationId });
      await bench.postTools(runtimeCall, toolCalls(lookUp));
      await engine.received(1);
      expect(engine.requests[0]?.url).toBe(`/simulations/${simulationId}/events`);
      engine.stop();
    },
  );

  test("a tool call that comes after the phone call is over is reported to the call's own simulation", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    const { client, runtimeCall } = await bench.call({ headers: { "x-simulation-id": "sim-2" } });
    client.hangUp();
    await bench.idle();
    await bench.postTools(runtimeCall, toolCalls(lookUp));
    await engine.received(1);
    expect(engine.requests[0]?.url).toBe("/simulations/sim-2/events");
    engine.stop();
  });

  test("of 100 calls at once with an engine that hangs, each lost event is counted and named, without its words", async () => {
    await start({ SIMULATION_ID: "sim-1", MAX_EVENTS_IN_FLIGHT: "64" });
    engine.answer = "hang";
    const { runtimeCall } = await bench.call();
    const many = Array.from({ length: 100 }, (_value, index) => ({
      id: `many-${index}`,
      name: index % 2 === 0 ? "look_up" : "told_by_the_caller",
      arguments: { service: "words-of-the-caller" },
    }));
    const { results } = await bench.postTools(runtimeCall, toolCalls(...many));
    expect(results).toHaveLength(100);
    expect((await bench.get("/metrics")).body).toContain('offhook_events_lost_total{reason="too_many"} 36\n');
    const losses = () => bench.captured.lines.filter((line) => line.msg.includes("not reported"));
    await expect.poll(() => losses().length).toBe(100);
    expect(
      losses()
        .map(({ toolCallId }) => toolCallId)
        .sort(),
    ).toEqual(many.map(({ id }) => id).sort());
    expect(new Set(losses().map(({ tool }) => tool))).toEqual(new Set(["look_up", "unknown"]));
    expect((await bench.get("/metrics")).body).toContain('offhook_events_lost_total{reason="failed"} 64\n');
    expect(bench.captured.text()).not.toMatch(/caller"|told_by_the_caller|words-of-the-caller/);
    engine.stop();
  });

  test("an idle connection is closed before the engine closes it, which would lose the report that is sent then", async () => {
    // It announces two seconds, and may take one longer.
    engine = new NotingEngine(2_000);
    await start({ SIMULATION_ID: "sim-1" });
    const { runtimeCall } = await bench.call();
    await bench.postTools(runtimeCall, toolCalls(lookUp));
    await engine.closed(1);
    expect(engine.ends).toEqual(["by the agent"]);
    engine.stop();
  });

  test("by default 100 events at once are none too many", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    const { runtimeCall } = await bench.call();
    const many = Array.from({ length: 100 }, (_value, index) => ({ ...lookUp, id: `many-${index}` }));
    await bench.postTools(runtimeCall, toolCalls(...many));
    await engine.received(100);
    expect((await bench.get("/metrics")).body).not.toContain("offhook_events_lost_total{");
    engine.stop();
  });

  test("what the engine says stays out of the log: it may quote the event", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    engine.answer = "refuse";
    const { runtimeCall } = await bench.call();
    await bench.postTools(runtimeCall, toolCalls(lookUp));
    const line = await bench.captured.line((one) => one.msg.includes("not reported"), "the lost event");
    expect(line).toMatchObject({ tool: "look_up", toolCallId: "1", reason: "the engine answered 404" });
    expect(bench.captured.text()).not.toContain("unknown simulation");
    engine.stop();
  });

  test("without a simulation nothing is reported, and there is no metadata", async () => {
    await start();
    const { runtimeCall } = await bench.call();
    expect(runtimeCall.request.assistant).not.toHaveProperty("metadata");
    await bench.postTools(runtimeCall, toolCalls(lookUp));
    await bench.agent.stop();
    expect(engine.requests).toHaveLength(0);
    engine.stop();
  });

  test("a webhook with a wrong secret is not reported", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    const { runtimeCall } = await bench.call();
    await bench.postTools(runtimeCall, toolCalls(lookUp), { "x-offhook-secret": "wrong" });
    await bench.agent.stop();
    expect(engine.requests).toHaveLength(0);
    engine.stop();
  });

  test("an engine that hangs does not delay the answer, and costs one warning after two seconds", async () => {
    await start({ SIMULATION_ID: "sim-1" });
    engine.answer = "hang";
    const { runtimeCall } = await bench.call();
    const losses = () => bench.captured.lines.filter((line) => line.msg.includes("not reported"));
    const startedAt = performance.now();
    const { results } = await bench.postTools(runtimeCall, toolCalls(lookUp));
    expect(results).toHaveLength(1);
    // The answer came before the report was given up.
    expect(losses()).toEqual([]);
    await bench.captured.line((line) => line.msg.includes("not reported"), "the lost event");
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    expect(losses()).toHaveLength(1);
    engine.stop();
  });

  for (const state of ["refuses", "is down"]) {
    test(`an engine that ${state} costs one warning and a count, nothing else`, async () => {
      await start({ SIMULATION_ID: "sim-1" });
      engine.answer = "refuse";
      if (state === "is down") engine.stop();
      const { runtimeCall } = await bench.call();
      const { results } = await bench.postTools(runtimeCall, toolCalls(lookUp));
      expect(JSON.parse(results[0]?.result ?? "")).toMatchObject({ service: "checkout" });
      await bench.captured.line((line) => line.msg.includes("not reported"), "the lost event");
      const { body } = await bench.get("/metrics");
      expect(body).toContain('offhook_events_lost_total{reason="failed"} 1');
      engine.stop();
    });
  }
});
