import { type CapturedLog, captureLog } from "@offhook/platform/testing/log-lines";
import voiceRuntimeTwin from "@offhook/vapi";
import { FAULT_STATUSES } from "@offhook/vapi/api/errors";
import {
  KEY,
  playedSessions,
  startDefinition,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "@offhook/vapi/testing/voice-runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "../../../agent/config.ts";
import { type RunningAgent, startAgent } from "../../../agent/server.ts";
import { registryOf } from "../../../tools/registry.ts";
import { VoiceClient } from "../../support/voice-client.ts";

/** Half a second of the assistant's voice, in bytes: the call is up. */
const UP = 24_000;

async function arm(runtime: VoiceRuntime, fault: object): Promise<void> {
  const answer = await runtime.control("POST", "/faults", fault);
  expect(answer.status, answer.text).toBe(201);
}

describe("the agent, with a runtime that fails", () => {
  let runtime: VoiceRuntime;
  let agent: RunningAgent;
  let captured: CapturedLog;
  beforeEach(async () => {
    runtime = await startDefinition(voiceRuntimeTwin, {});
    captured = captureLog();
    const environment = {
      PORT: "0",
      VAPI_API_KEY: KEY,
      VOICE_API_URL: runtime.url,
      DRAIN_TIMEOUT_MS: "0",
    };
    agent = await startAgent(readConfig(environment), { log: captured.log, tools: registryOf([]) });
  });
  afterEach(async () => {
    await agent.stop();
    await runtime.stop();
  });

  const dial = () => VoiceClient.connect(agent.url);
  const reasons = () =>
    captured.lines.filter(({ msg }) => msg === "call ended").map(({ outcome }) => outcome);

  test("503 once to the creation of a call: the caller gets callee_no_answer, the next call works", async () => {
    await arm(runtime, { effect: "status", status: 503, operation: "call.create", times: 1 });
    expect(await (await dial()).gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    const next = await dial();
    await next.received(UP);
    next.hangUp();
    await agent.idle();
    expect(reasons()[0]).toBe("callee_no_answer");
  });

  test.each([
    ["reset", { effect: "reset" }],
    ["cut short", { effect: "truncate" }],
  ])("an answer that is %s: the caller gets callee_no_answer", async (_what, effect) => {
    await arm(runtime, { ...effect, operation: "call.create", times: 1 });
    expect(await (await dial()).gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
  });

  test("a call socket that is refused: the caller gets callee_no_answer", async () => {
    await arm(runtime, { effect: "refuse_upgrade", status: 503, operation: "call.transport" });
    expect(await (await dial()).gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
  });

  test.each([
    ["closed", { code: 1011 }],
    ["cut without a close frame", {}],
  ])(
    "a call socket that is %s after two seconds: the caller's socket closes with 1011",
    async (_what, how) => {
      await arm(runtime, { effect: "drop", after_ms: 2000, ...how, operation: "call.transport", times: 1 });
      const caller = await dial();
      const { code, reason } = await caller.gone();
      expect(code).toBe(1011);
      expect(reason).toMatch(/^the voice runtime failed: /);
      const { requests } = (await runtime.control("GET", "/requests?operation=call.transport")).body;
      expect(requests).toMatchObject([{ status: 101, fault: "fault-1 drop" }]);
      await agent.idle();
      expect(agent.activeCalls).toBe(0);
    },
  );
});

describe("armed statuses", () => {
  let runtime: VoiceRuntime;
  beforeEach(async () => {
    runtime = await startVoiceRuntime({ createSession: playedSessions().createSession });
  });
  afterEach(() => runtime.stop());

  test.each(FAULT_STATUSES)("%i is answered in the vendor's own shape", async (status) => {
    await arm(runtime, { effect: "status", status, all: true, times: 1 });
    const answer = await runtime.api("POST", "/call", websocketCall());
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      message: expect.stringMatching(/\w/),
      error: expect.stringMatching(/\w/),
      statusCode: status,
    });
    expect((await runtime.api("GET", "/call")).body).toEqual([]);
  });

  test("a fault of one call's assistant leaves the others alone", async () => {
    const match = { json: { "assistant.name": "night" } };
    await arm(runtime, { effect: "status", status: 429, operation: "call.create", match });
    const create = async (name: string) =>
      (await runtime.api("POST", "/call", websocketCall({ assistant: { name } }))).status;
    expect([await create("day"), await create("night"), await create("day")]).toEqual([201, 429, 201]);
  });
});
