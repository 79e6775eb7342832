import { createSessionWith } from "@offhook/vapi/session/call-session";
import { createLevelDetector } from "@offhook/vapi/testing/tone-speech";
import { KEY, silentSpeech, startVoiceRuntime } from "@offhook/vapi/testing/voice-runtime";
import { expect, test } from "vitest";
import { startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

const TRAILING_SILENCE_BYTES = 81_600;

test("a turn that could not be synthesised ends for the caller as every turn does: with the trailing silence, once", async () => {
  const runtime = await startVoiceRuntime({
    createSession: (plan, parts) => createSessionWith(plan, parts, async () => createLevelDetector(100, 400)),
    embedded: {
      ...silentSpeech,
      synthesis: async () => ({ speak: () => Promise.reject(new Error("no voice today")) }),
    },
  });
  const bench = await startAgentBench({ env: { VOICE_API_URL: runtime.url, VAPI_API_KEY: KEY } });
  try {
    const caller = await VoiceClient.connect(bench.agent.url);
    await caller.received(TRAILING_SILENCE_BYTES);
    caller.hangUp();
    await bench.idle();
    expect(caller.audio().equals(Buffer.alloc(TRAILING_SILENCE_BYTES))).toBe(true);
    const { body } = await runtime.api("GET", "/call");
    expect(body).toMatchObject([{ status: "ended", endedReason: "customer-ended-call" }]);
    expect(body[0].artifact?.transcript ?? "").toBe("");
  } finally {
    await bench.stop();
    await runtime.stop();
  }
});
