import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { startWebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";

let runtime: VoiceRuntime | undefined;
const played = playedSessions();
const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await runtime?.stop();
});

async function start(config: object = {}): Promise<VoiceRuntime> {
  runtime = await startVoiceRuntime({ createSession: played.createSession, config });
  return runtime;
}

async function join(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  sockets.push(socket);
  await once(socket, "open");
  return socket;
}

describe("a call nobody connects to", () => {
  test("ends after the connect timeout with the vendor's reason, and its server is notified", async () => {
    const hook = await startWebhookServer();
    const twin = await start({ connect_timeout_seconds: 0.2 });
    const created = await twin.api(
      "POST",
      "/call",
      websocketCall({ assistant: { server: { url: hook.url } } }),
    );
    const report = await hook.waitFor(({ body }) => body.message.type === "end-of-call-report");
    const reason = "call.in-progress.error-vapifault-transport-never-connected";
    expect(report.body.message.endedReason).toBe(reason);
    expect((await twin.api("GET", `/call/${created.body.id}`)).body).toMatchObject({
      status: "ended",
      endedReason: reason,
    });
    await hook.stop();
  });
});

describe("the concurrency limit", () => {
  test("a call beyond it is created blocked and ended; room appears when a call ends", async () => {
    const twin = await start({ concurrency_limit: 1 });
    const first = await twin.api("POST", "/call", websocketCall());
    expect(first.body.subscriptionLimits.remainingConcurrentCalls).toBe(0);
    const second = await twin.api("POST", "/call", websocketCall());
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({
      status: "ended",
      endedReason: "call.start.error-subscription-concurrency-limit-reached",
      subscriptionLimits: { concurrencyBlocked: true, concurrencyLimit: 1, remainingConcurrentCalls: 0 },
    });
    await twin.api("DELETE", `/call/${first.body.id}`);
    const third = await twin.api("POST", "/call", websocketCall());
    expect(third.body).toMatchObject({ status: "queued", subscriptionLimits: { concurrencyBlocked: false } });
  });
});

describe("the world", () => {
  test("has calls and messages, but no secrets and no socket addresses", async () => {
    const twin = await start();
    const created = await twin.api(
      "POST",
      "/call",
      websocketCall({
        assistant: {
          metadata: { simulationId: "sim-7" },
          model: {
            provider: "openai",
            model: "gpt-4.1",
            tools: [
              {
                type: "function",
                function: { name: "one" },
                server: { url: "http://127.0.0.1:1/tool", headers: { "x-offhook-secret": "hush-1" } },
              },
            ],
          },
          server: { url: "http://127.0.0.1:1/", secret: "hush-2" },
        },
      }),
    );
    const { id } = created.body;
    await twin.api("POST", "/assistant", { serverUrl: "http://127.0.0.1:1/", serverUrlSecret: "hush-3" });
    await join(created.body.transport.websocketCallUrl);
    const { parts } = await played.of(id);
    parts.record({ role: "user", text: "Hello.", startMs: 0, endMs: 500 });

    const calls = await twin.control("GET", "/data?entity_type=calls&simulation_id=sim-7");
    expect(calls.body.rows).toMatchObject([{ id, status: "in-progress" }]);
    const messages = await twin.control("GET", `/data?entity_type=messages&call_id=${id}`);
    expect(messages.body.rows).toMatchObject([
      { role: "user", text: "Hello.", simulation_id: "sim-7", start_ms: 0 },
    ]);

    const snapshot = await twin.control("POST", "/snapshot");
    const journal = await twin.control("GET", "/requests");
    for (const { text } of [snapshot, journal]) expect(text).not.toContain("hush-");
    expect(snapshot.text).not.toContain("/transport");
    expect(journal.text).not.toContain(`${id}/transport`);
    const whole = await twin.api("GET", `/call/${id}`);
    expect(whole.body.assistant.server.secret).toBe("hush-2");
  });

  test("a reset ends live calls and restores the seed", async () => {
    const twin = await start();
    const created = await twin.api("POST", "/call", websocketCall());
    const socket = await join(created.body.transport.websocketCallUrl);
    const session = await played.of(created.body.id);
    expect((await twin.control("POST", "/reset", {})).status).toBeLessThan(300);
    expect((await twin.api("GET", `/call/${created.body.id}`)).status).toBe(404);
    expect(session.connected).toBe(true);
    socket.terminate();
    expect((await twin.api("POST", "/call", websocketCall())).status).toBe(201);
  });

  test("a script that cannot work is refused with what is wrong and where", async () => {
    const twin = await start();
    const upload = (rules: unknown) =>
      twin.control("POST", "/data", { data: { scripts: [{ simulation_id: "s", rules }] } });
    const wrong: [unknown, string][] = [
      [[{ heard: "hello" }], "does nothing"],
      [[{ heard: "hello*", say: "x" }], "stands alone"],
      [[{ heard: "*", say: "{{nobody.name}}", call: [{ tool: "who_is_on_call" }] }], "who_is_on_call"],
      [[{ heard: "*", say: "{{nobody.name" }], "not closed"],
      [[{ heard: "*", says: "x" }], "says"],
      [[], "rules"],
    ];
    for (const [rules, explanation] of wrong) {
      const answer = await upload(rules);
      expect(answer.status).toBe(422);
      expect(answer.text).toContain(explanation);
    }
    expect((await upload([{ heard: "*", say: "Hi." }])).status).toBeLessThan(300);
  });

  test("the default script comes from the configured file, and a broken file is named at start", async () => {
    const file = path.join(tmpdir(), `script-${process.pid}.yaml`);
    await writeFile(file, "name: x\nbrain:\n  - heard: '*'\n    say: Hi.\n");
    const twin = await start({ script: file });
    const scripts = await twin.control("GET", "/data?entity_type=scripts");
    expect(scripts.body.rows).toMatchObject([{ simulation_id: "*", rules: [{ heard: "*", say: "Hi." }] }]);
    await writeFile(file, "brain:\n  - heard: '*'\n");
    await expect(
      startVoiceRuntime({ createSession: played.createSession, config: { script: file } }),
    ).rejects.toThrow(/does nothing/);
  });
});

test("a session that cannot start ends the call and closes its socket", async () => {
  const log = captureLog();
  runtime = await startVoiceRuntime({
    createSession: () => {
      throw new Error("no detector");
    },
    log: log.log,
  });
  const created = await runtime.api("POST", "/call", websocketCall());
  const socket = new WebSocket(created.body.transport.websocketCallUrl);
  const [code] = await once(socket, "close");
  expect(code).toBe(1011);
  const call = await runtime.api("GET", `/call/${created.body.id}`);
  expect(call.body.status).toBe("ended");
});

test("a session that does not end in time delays nobody", async () => {
  const { createSession } = played;
  runtime = await startVoiceRuntime({
    createSession: (plan, parts) => ({ ...createSession(plan, parts), end: () => undefined }),
  });
  const created = await runtime.api("POST", "/call", websocketCall());
  await join(created.body.transport.websocketCallUrl);
  const ended = await runtime.api("DELETE", `/call/${created.body.id}`);
  expect(ended.body).toMatchObject({ status: "ended", endedReason: "manually-canceled" });
});
