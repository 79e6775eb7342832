import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { afterEach, describe, expect, test } from "vitest";
import { readConfig } from "../../agent/config.ts";
import { startAgent } from "../../agent/server.ts";
import { registryOf } from "../../tools/registry.ts";
import { type AgentBench, API_KEY, startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

let bench: AgentBench;
afterEach(() => bench.stop());

describe("who may call", () => {
  test("with VOICE_TOKEN set only those who send it, either way", async () => {
    bench = await startAgentBench({ env: { VOICE_TOKEN: "open-sesame" } });
    await expect(VoiceClient.connect(bench.agent.url)).rejects.toThrow("401");
    await expect(VoiceClient.connect(bench.agent.url, { query: "token=wrong-token" })).rejects.toThrow("401");
    const byQuery = await bench.call({ query: "token=open-sesame" });
    const byHeader = await bench.call({ headers: { authorization: "Bearer open-sesame" } });
    for (const { client, runtimeCall } of [byQuery, byHeader]) {
      client.hangUp();
      await runtimeCall.gone();
    }
    expect(bench.captured.text()).not.toContain("open-sesame");
    expect(bench.captured.text()).not.toContain("wrong-token");
  });

  test("beyond MAX_CALLS an upgrade gets 503, and there is room again after a call", async () => {
    bench = await startAgentBench({ env: { MAX_CALLS: "1" } });
    const { client } = await bench.call();
    await expect(VoiceClient.connect(bench.agent.url)).rejects.toThrow("503");
    client.hangUp();
    await bench.idle();
    const second = await bench.call();
    expect(bench.agent.activeCalls).toBe(1);
    second.client.hangUp();
    await second.runtimeCall.gone();
    expect((await bench.get("/metrics")).body).toContain('offhook_calls_refused_total{reason="full"} 1');
  });

  test("an ill-formed X-Simulation-Id gets 400", async () => {
    bench = await startAgentBench();
    for (const id of ["../../c/dev", "x".repeat(129), "a b"]) {
      const connecting = VoiceClient.connect(bench.agent.url, { headers: { "x-simulation-id": id } });
      await expect(connecting).rejects.toThrow(/400.*X-Simulation-Id must be 1 to 128 letters/);
    }
  });

  test("an ill-formed ?simulation= gets 400", async () => {
    bench = await startAgentBench();
    for (const id of ["../../c/dev", "x".repeat(129), "a b"]) {
      const connecting = VoiceClient.connect(bench.agent.url, {
        query: new URLSearchParams({ simulation: id }).toString(),
      });
      await expect(connecting).rejects.toThrow(/400.*\?simulation= must be 1 to 128 letters/);
    }
  });

  test.each([
    ["header and address", "simulation=sim-3", { "x-simulation-id": "sim-2" }],
    ["the address twice", "simulation=sim-2&simulation=sim-3", {}],
  ])("two simulations for one call get 400: %s", async (_where, query, headers) => {
    bench = await startAgentBench();
    const connecting = VoiceClient.connect(bench.agent.url, { query, headers });
    await expect(connecting).rejects.toThrow(/400.*one simulation.*sim-2 and sim-3/);
    expect(bench.runtime.createRequests).toBe(0);
  });
});

describe("what the agent says of itself", () => {
  test("/healthz, /readyz and /metrics answer, and the metrics count calls, times and tools", async () => {
    bench = await startAgentBench();
    expect(await bench.get("/healthz")).toEqual({ status: 200, body: '{"status":"ok"}' });
    expect(await bench.get("/readyz")).toEqual({ status: 200, body: '{"status":"ready"}' });
    const { client, runtimeCall } = await bench.call();
    const loud = Buffer.alloc(960, 0x30);
    runtimeCall.sendAudio(loud);
    await client.received(loud.length);
    expect((await bench.get("/metrics")).body).toContain("offhook_calls_active 1");
    await bench.postTools(runtimeCall, {
      message: { toolCallList: [{ id: "1", name: "echo", arguments: { text: "x" } }, { name: "made_up" }] },
    });
    client.hangUp();
    await runtimeCall.gone();
    await bench.idle();
    const { body } = await bench.get("/metrics");
    for (const line of [
      "offhook_calls_active 0",
      'offhook_calls_total{outcome="completed"} 1',
      "offhook_call_setup_seconds_count 1",
      "offhook_call_first_audio_seconds_count 1",
      'offhook_tool_duration_seconds_count{tool="echo",outcome="ok"} 1',
      'offhook_tool_duration_seconds_count{tool="unknown",outcome="unknown_tool"} 1',
    ]) {
      expect(body).toContain(`${line}\n`);
    }
    expect(body).toMatch(/# TYPE offhook_turn_response_seconds histogram/);
  });

  test("other requests are told what there is, and nothing of the inside", async () => {
    bench = await startAgentBench();
    const root = await bench.get("/");
    expect(root.status).toBe(404);
    expect(JSON.parse(root.body).routes).toContain("WebSocket /voice");
    const elsewhere = VoiceClient.connect(`${bench.agent.url}/elsewhere`);
    await expect(elsewhere).rejects.toThrow("404");
    expect((await bench.get("/metrics")).body).toContain(
      'offhook_calls_refused_total{reason="unknown_path"} 1\n',
    );
    expect((await bench.get("/voice")).status).toBe(426);
    const broken = await bench.get("/%E0%A4%A");
    expect(broken.body).not.toContain("node_modules");
  });

  test("the response time of a turn runs from the caller's last audible frame to the agent's first", async () => {
    bench = await startAgentBench();
    const { client, runtimeCall } = await bench.call();
    const loud = Buffer.alloc(960, 0x30);
    const quiet = Buffer.alloc(960);
    client.send(loud);
    client.send(quiet);
    await runtimeCall.received(1_920);
    runtimeCall.sendAudio(quiet);
    runtimeCall.sendAudio(loud);
    runtimeCall.sendAudio(loud);
    await client.received(2_880);
    expect((await bench.get("/metrics")).body).toContain("offhook_turn_response_seconds_count 1\n");
    client.hangUp();
    await runtimeCall.gone();
  });

  test("each line of a call carries the call's id, and no line a secret", async () => {
    bench = await startAgentBench({ env: { SIMULATION_ID: "sim-9" } });
    const { client, runtimeCall } = await bench.call();
    client.hangUp();
    await runtimeCall.gone();
    await bench.idle();
    const ofCall = bench.captured.lines.filter((line) => line.msg.startsWith("call "));
    expect(ofCall.map((line) => line.msg)).toEqual(["call started", "call connected", "call ended"]);
    expect(new Set(ofCall.map((line) => line.call)).size).toBe(1);
    expect(ofCall.every((line) => line.simulation === "sim-9")).toBe(true);
    expect(bench.captured.text()).not.toContain(API_KEY);
    expect(bench.captured.text()).not.toContain("/transport");
    expect(bench.captured.text()).not.toContain(runtimeCall.webhook.headers["x-offhook-secret"]);
  });
});

describe("shutting down", () => {
  test("new calls get 503, /readyz too, the running call goes on and may end by itself", async () => {
    bench = await startAgentBench({ env: { DRAIN_TIMEOUT_MS: "60000" } });
    const { client, runtimeCall } = await bench.call();
    const stopped = bench.agent.stop();
    await expect(VoiceClient.connect(bench.agent.url)).rejects.toThrow("503");
    expect(await bench.get("/readyz")).toEqual({ status: 503, body: '{"status":"draining"}' });
    const audio = Buffer.alloc(960, 1);
    runtimeCall.sendAudio(audio);
    await client.received(audio.length);
    const { results } = await bench.postTools(runtimeCall, {
      message: { toolCallList: [{ id: "1", name: "echo", arguments: { text: "still here" } }] },
    });
    expect(results[0]?.result).toBe('{"text":"still here"}');
    client.hangUp();
    await stopped;
    await expect(bench.get("/healthz")).rejects.toThrow();
  });

  test("a call that is longer than the limit is ended properly on both sides", async () => {
    bench = await startAgentBench({ env: { DRAIN_TIMEOUT_MS: "50" } });
    const { client, runtimeCall } = await bench.call();
    await bench.agent.stop();
    expect(await client.gone()).toEqual({ code: 1001, reason: "the agent is shutting down" });
    await runtimeCall.gone();
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    expect(runtimeCall.closed?.code).toBe(1000);
  });

  test("ends although requests, a tunnel being opened and the engine hang", async () => {
    const hanging = createServer(() => {});
    hanging.listen(0, "127.0.0.1");
    await once(hanging, "listening");
    const { port } = hanging.address() as AddressInfo;
    bench = await startAgentBench({
      remoteRuntime: true,
      env: {
        SIMULATION_ID: "sim-1",
        ENGINE_URL: `http://127.0.0.1:${port}`,
        LOCALTUNNEL_HOST: `http://127.0.0.1:${port}`,
        TOOL_SECRET: "sixteen characters",
      },
    });
    const client = await VoiceClient.connect(bench.agent.url);
    await fetch(`${bench.agent.url}/tool`, {
      method: "POST",
      headers: { "x-offhook-secret": "sixteen characters" },
      body: JSON.stringify({ message: { toolCallList: [{ id: "1", name: "echo", arguments: {} }] } }),
    });
    const half = connect(Number(new URL(bench.agent.url).port), "127.0.0.1");
    half.on("error", () => {});
    half.write("POST /tool HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
    // That of the caller, of fetch, and the half request's.
    await expect.poll(() => bench.agent.connections).toBe(3);
    await bench.agent.stop();
    await expect.poll(() => bench.agent.connections).toBe(0);
    expect((await client.gone()).code).toBe(1001);
    half.destroy();
    hanging.close();
    hanging.closeAllConnections();
  });

  test("a call still being set up is ended at the runtime", async () => {
    bench = await startAgentBench({ env: { DRAIN_TIMEOUT_MS: "50" } });
    bench.runtime.upgrade = { kind: "hang" };
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    await bench.agent.stop();
    await runtimeCall.wasDeleted();
    expect((await client.gone()).code).toBe(1001);
  });
});

test("an agent behind a public address is warned of what it needs there, and not when it has it", async () => {
  bench = await startAgentBench({ env: { PUBLIC_BASE_URL: "https://agent.example.com" } });
  const warnings = () => bench.captured.lines.filter((line) => line.level === 40).map(({ msg }) => msg);
  expect(warnings()).toEqual([
    expect.stringContaining("set the same TOOL_SECRET for all"),
    expect.stringContaining("set VOICE_TOKEN"),
  ]);
  await bench.stop();
  const env = {
    PUBLIC_BASE_URL: "https://agent.example.com",
    TOOL_SECRET: "sixteen characters",
    VOICE_TOKEN: "open-sesame",
  };
  bench = await startAgentBench({ env });
  expect(warnings()).toEqual([]);
});

test("a taken port is an error of the start", async () => {
  bench = await startAgentBench();
  const { port } = new URL(bench.agent.url);
  const config = readConfig({ PORT: port, VAPI_API_KEY: "key" });
  const starting = startAgent(config, { log: captureLog().log, tools: registryOf([]) });
  await expect(starting).rejects.toThrow(/^port \d+ on .* is in use.*set PORT to another/);
});
