import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Watched } from "@offhook/platform/testing/watched";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sumMetrics } from "../../agent/workers/metrics-sum.ts";
import { Command } from "../support/command.ts";
import { type StandInCall, StandInRuntime } from "../support/stand-in-runtime.ts";
import { TunnelServer } from "../support/tunnel-server.ts";
import { VoiceClient } from "../support/voice-client.ts";

const MAX_CALLS = 6;

describe("an agent of two workers", () => {
  let runtime: StandInRuntime;
  let agent: Command;
  let url: string;
  /** Bodies of the events that the engine got. */
  const events: string[] = [];
  const watched = new Watched();
  const engine = createServer(async (request, response) => {
    let body = `${request.url} `;
    for await (const chunk of request) body += chunk;
    events.push(body);
    watched.changed();
    response.writeHead(201).end("{}");
  });

  let tunnels: TunnelServer;
  beforeAll(async () => {
    runtime = await StandInRuntime.start();
    tunnels = await TunnelServer.start();
    await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
    agent = new Command("../agent/main.ts", [], {
      VAPI_API_KEY: "key-of-the-workers",
      // 0.0.0.0 leads to this machine, but does not say so: the agent opens a tunnel.
      VOICE_API_URL: runtime.url.replace("127.0.0.1", "0.0.0.0"),
      LOCALTUNNEL_HOST: tunnels.url,
      ENGINE_URL: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`,
      PORT: "0",
      AGENT_WORKERS: "2",
      MAX_CALLS: String(MAX_CALLS),
      DRAIN_TIMEOUT_MS: "60000",
      SHUTDOWN_DELAY_MS: "1000",
    });
    const output = await agent.output(/agent listens on \S+"/);
    url = /"url":"([^"]+)"/.exec(output)?.[1] ?? "";
  });
  afterAll(async () => {
    agent.interrupt("SIGKILL");
    await tunnels.stop();
    await runtime.stop();
    engine.close();
  });

  async function placeCall(headers: Record<string, string> = {}) {
    const earlier = runtime.calls.length;
    const client = await VoiceClient.connect(url, { headers });
    const call = await runtime.call(earlier);
    await call.connected();
    return { client, call, worker: call.webhook.headers["x-offhook-worker"] ?? "" };
  }

  /** On a connection of its own, so that it comes to the next worker. */
  async function postTool(call: StandInCall, id: string): Promise<string> {
    const response = await fetch(`${url}/tool`, {
      method: "POST",
      headers: { ...call.webhook.headers, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ message: { toolCallList: [{ id, name: "made_up", arguments: { n: 1 } }] } }),
    });
    return response.text();
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  }

  async function hangUp(clients: VoiceClient[]): Promise<void> {
    for (const client of clients) client.hangUp();
    await Promise.all(clients.map((client) => client.gone()));
    await expect.poll(() => metric("offhook_calls_active")).toBe(0);
  }

  const linesOf = async (pattern: RegExp) =>
    (await agent.output(pattern))
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line): Record<string, unknown> => JSON.parse(line));

  const locator = () => join(agent.folder, ".offhook/agent.json");

  test("is one agent in the locator file", async () => {
    expect(JSON.parse(await readFile(locator(), "utf8"))).toEqual({ url, pid: agent.pid });
  });

  test("gives each worker as many calls, whatever else connects, and refuses what is beyond MAX_CALLS of all", async () => {
    const clients: VoiceClient[] = [];
    const byWorker = new Map<string, number>();
    for (let n = 0; n < MAX_CALLS; n++) {
      const { client, call, worker } = await placeCall();
      clients.push(client);
      byWorker.set(worker, (byWorker.get(worker) ?? 0) + 1);
      // In turns, every other connection would be a call, and all of them the same worker's.
      await postTool(call, `between-${n}`);
      client.send(Buffer.alloc(960, 1));
      await call.received(960);
    }
    expect(Object.fromEntries(byWorker)).toEqual({ "1.1": MAX_CALLS / 2, "2.1": MAX_CALLS / 2 });
    await expect(VoiceClient.connect(url)).rejects.toThrow(
      `503: {"error":"there are ${MAX_CALLS} calls already"}`,
    );
    for (const _ of [1, 2]) expect(await metric("offhook_calls_active")).toBe(MAX_CALLS);
    expect(await metric('offhook_calls_refused_total{reason="full"}')).toBe(1);
    await hangUp(clients);
    expect(await metric('offhook_calls_total{outcome="completed"}')).toBe(MAX_CALLS);
  });

  test("has one tunnel for all, through which tool calls come to the worker of their call", async () => {
    const calls = [await placeCall(), await placeCall()];
    expect(new Set(calls.map(({ worker }) => worker)).size).toBe(2);
    expect(tunnels.handedOut).toEqual(["t0"]);
    for (const { call, worker } of calls) {
      const { url: toolUrl, headers } = call.webhook;
      expect(toolUrl).toMatch(/^http:\/\/t0\.localhost:\d+\/tool$/);
      const id = `tunnelled-to-${worker}`;
      const body = JSON.stringify({ message: { toolCallList: [{ id, name: "made_up", arguments: {} }] } });
      const answer = await tunnels.visit(toolUrl, { method: "POST", headers, body });
      expect(answer.body).toContain("there is no tool made_up");
      const [line] = await linesOf(new RegExp(`"toolCallId":"${id}"`));
      expect(line).toMatchObject({ worker, call: headers["x-offhook-call"] });
    }
    await hangUp(calls.map(({ client }) => client));
  });

  test("runs a tool call once, for its call and its simulation, to whichever workers it comes", async () => {
    const counter = 'offhook_tool_duration_seconds_count{tool="unknown",outcome="unknown_tool"}';
    const before = await metric(counter);
    const { client, call, worker } = await placeCall({ "x-simulation-id": "sim-7" });
    const answers = await Promise.all([1, 2, 3, 4].map(() => postTool(call, "once")));
    answers.push(await postTool(call, "once"));
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("there is no tool made_up");
    expect(await metric(counter)).toBe(before + 1);
    await watched.until(() => events.length > 0, "the event");
    expect(events).toEqual([expect.stringContaining("/simulations/sim-7/events ")]);
    const [line] = await linesOf(/"toolCallId":"once"/);
    expect(line).toMatchObject({ worker, simulation: "sim-7", call: call.webhook.headers["x-offhook-call"] });
    await hangUp([client]);
  });

  test("replaces a worker that dies, whose calls alone are lost, and keeps its counters", async () => {
    const completed = 'offhook_calls_total{outcome="completed"}';
    const before = await metric(completed);
    const calls = [await placeCall(), await placeCall()];
    const [lost, kept] = calls[0]?.worker === "1.1" ? calls : [...calls].reverse();
    if (lost === undefined || kept === undefined) throw new Error("two calls were placed");
    const [listening] = await linesOf(/"worker":"1\.1","pid":\d+,"msg":"a worker listens"/);
    process.kill(Number(listening?.pid), "SIGKILL");
    expect((await lost.client.gone()).code).toBe(1006);
    const [gone] = await linesOf(/a worker is gone/);
    expect(gone).toMatchObject({ level: 50, worker: "1.1", reason: "signal", signal: "SIGKILL", calls: 1 });
    await linesOf(/"worker":"1\.2","pid":\d+,"msg":"a worker listens"/);
    kept.client.send(Buffer.alloc(960, 1));
    await kept.call.received(960);
    expect(await metric("offhook_calls_active")).toBe(1);
    expect(await metric('offhook_workers_lost_total{reason="signal"}')).toBe(1);
    expect(await metric(completed)).toBe(before);
    // What its worker cannot end any more costs money, so another does.
    await lost.call.wasDeleted();
    // A late tool call of the lost call is answered by the worker that has its place.
    expect(await postTool(lost.call, "late")).toContain("there is no tool made_up");
    expect((await linesOf(/"toolCallId":"late"/))[0]?.worker).toBe("1.2");
    const next = await placeCall();
    expect(next.worker).toBe("1.2");
    await hangUp([kept.client, next.client]);
  });

  test("takes SIGTERM as one: all say 503 on /readyz, calls that come still are taken for a while, all may finish", async () => {
    const running = await placeCall();
    agent.interrupt("SIGTERM");
    await agent.output(/agent stops/);
    const ready = () => fetch(`${url}/readyz`, { headers: { connection: "close" } });
    await expect.poll(async () => (await ready()).status).toBe(503);
    for (const _ of [1, 2, 3]) expect((await ready()).status).toBe(503);
    await expect.poll(() => existsSync(locator())).toBe(false);
    const late = await placeCall();
    expect(late.worker).not.toBe(running.worker);
    await expect
      .poll(() => VoiceClient.connect(url).then((client) => client.hangUp(), String))
      .toContain("503");
    for (const { client, call } of [running, late]) {
      client.send(Buffer.alloc(960, 1));
      await call.received(960);
      expect(await postTool(call, "still")).toContain("there is no tool made_up");
    }
    running.client.hangUp();
    late.client.hangUp();
    const { exitCode, stdout, stderr } = await agent.finished();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toContain("key-of-the-workers");
    expect(running.call.messages).toEqual(['{"type":"end-call"}']);
    await expect.poll(() => agent.leftSomethingRunning).toBe(false);
  });
});

test("metrics are added sample by sample; of processes that are gone the counters stay, the gauges do not", () => {
  const text = (calls: number, refused: number) =>
    [
      "# HELP calls Calls at the moment.",
      "# TYPE calls gauge",
      `calls ${calls}`,
      "# HELP refused Refused, by reason.",
      "# TYPE refused counter",
      `refused{reason="no room, \\"really\\""} ${refused}`,
      "# HELP seconds How long.",
      "# TYPE seconds histogram",
      'seconds_bucket{le="0.5"} 1',
      'seconds_bucket{le="+Inf"} 2',
      `seconds_sum ${calls / 2}`,
      "seconds_count 2",
      "",
    ].join("\n");
  const expected = text(5, 111)
    .replace("seconds_sum 2.5", "seconds_sum 4")
    .replace('le="0.5"} 1', 'le="0.5"} 3')
    .replace('le="+Inf"} 2', 'le="+Inf"} 6')
    .replace("seconds_count 2", "seconds_count 6");
  expect(sumMetrics([text(2, 1), text(3, 10)], [text(3, 100)])).toBe(expected);
});
