import { afterEach, describe, expect, test } from "vitest";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { StandInCall } from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";

const SECOND_BYTES = 48_000;
const QUIET_SECOND = Buffer.alloc(SECOND_BYTES);
const LOUD = Buffer.alloc(960, 0x30);
const SILENT_REASON = "both sides were silent for 60 s (MAX_SILENCE_MS)";

let bench: AgentBench;
afterEach(() => bench.stop());

/** The call was ended like any other, and says why: to the caller, in the log, in the metrics. */
async function expectEnded(
  client: VoiceClient,
  runtimeCall: StandInCall,
  outcome: string,
  reason: string,
): Promise<void> {
  expect(await client.gone()).toEqual({ code: 1000, reason });
  await bench.idle();
  expect(runtimeCall.isOpen).toBe(false);
  const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
  expect(line).toMatchObject({ outcome, reason });
  expect((await bench.get("/metrics")).body).toContain(`offhook_calls_total{outcome="${outcome}"} 1\n`);
}

describe("the longest silence of both sides", () => {
  test("is counted in the caller's samples, not in time", async () => {
    bench = await startAgentBench();
    const { client, runtimeCall } = await bench.call();
    for (let second = 0; second < 60; second += 1) client.send(QUIET_SECOND);
    await expectEnded(client, runtimeCall, "max_silence", SILENT_REASON);
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
  });

  test("begins again whenever either side is heard", async () => {
    bench = await startAgentBench();
    const { client, runtimeCall } = await bench.call();
    let sentBytes = 0;
    const send = async (audio: Buffer, times: number) => {
      for (let n = 0; n < times; n += 1) client.send(audio);
      sentBytes += times * audio.length;
      await runtimeCall.received(sentBytes);
    };
    await send(QUIET_SECOND, 50);
    await send(LOUD, 1);
    await send(QUIET_SECOND, 50);
    runtimeCall.sendAudio(LOUD);
    await client.received(LOUD.length);
    await send(QUIET_SECOND, 50);
    expect(client.closed).toBeUndefined();
    for (let second = 0; second < 10; second += 1) client.send(QUIET_SECOND);
    await expectEnded(client, runtimeCall, "max_silence", SILENT_REASON);
  });

  test("is time where the caller sends no audio, whatever silence the runtime sends", async () => {
    bench = await startAgentBench({ config: { maxSilenceMs: 200 } });
    const { client, runtimeCall } = await bench.call();
    runtimeCall.sendAudio(QUIET_SECOND);
    const reason = "both sides were silent for 0.2 s (MAX_SILENCE_MS)";
    await expectEnded(client, runtimeCall, "max_silence", reason);
  });

  test("does not count what a caller waits for the call", async () => {
    bench = await startAgentBench();
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    for (let second = 0; second < 70; second += 1) client.send(QUIET_SECOND);
    await bench.captured.line((line) => line.msg.includes("oldest is dropped"), "the drop");
    bench.runtime.release();
    await runtimeCall.received(10 * SECOND_BYTES);
    runtimeCall.sendAudio(LOUD);
    await client.received(LOUD.length);
    expect(client.closed).toBeUndefined();
  });
});

describe("the longest call", () => {
  const reason = "the call reached its longest duration, 0.5 s (MAX_CALL_MS)";

  test("is ended like any other", async () => {
    bench = await startAgentBench({ config: { maxCallMs: 500 } });
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    await expectEnded(client, runtimeCall, "max_duration", reason);
  });

  test("is ended while it is set up, too", async () => {
    bench = await startAgentBench({ config: { maxCallMs: 500 } });
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1000, reason });
    bench.runtime.release();
    const runtimeCall = await bench.runtime.call();
    await runtimeCall.wasDeleted();
    await expectEnded(client, runtimeCall, "max_duration", reason);
  });
});
