import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";

const TRAILING_SILENCE_BYTES = 81_600;
const SECONDS_3_BYTES = 3 * 48_000;

describe("the bridge", () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startAgentBench();
  });
  afterAll(() => bench.stop());

  test("one runtime call per connection, created inline in the negotiated format", async () => {
    const { client, runtimeCall } = await bench.call();
    expect(runtimeCall.headers.authorization).toBe("Bearer key-that-must-stay-secret");
    expect(runtimeCall.headers["user-agent"]).toMatch(/offhook/);
    expect(runtimeCall.request.transport).toEqual({
      provider: "vapi.websocket",
      audioFormat: { format: "pcm_s16le", container: "raw", sampleRate: 24_000 },
    });
    client.hangUp();
    await runtimeCall.gone();
  });

  test("what either side sends reaches the other byte for byte, whatever the sizes of the frames", async () => {
    const frames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(frames, frames, async (fromCaller, fromRuntime) => {
        const { client, runtimeCall } = await bench.call();
        for (const frame of fromCaller) client.send(Buffer.from(frame));
        for (const frame of fromRuntime) runtimeCall.sendAudio(Buffer.from(frame));
        const up = Buffer.concat(fromCaller);
        const down = Buffer.concat(fromRuntime);
        await runtimeCall.received(up.length & ~1);
        await client.received(down.length & ~1);
        client.hangUp();
        await runtimeCall.gone();
        expect(runtimeCall.audio().equals(up.subarray(0, up.length & ~1))).toBe(true);
        expect(client.audio().equals(down.subarray(0, down.length & ~1))).toBe(true);
        expect(client.audioSizes.every((size) => size % 2 === 0)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test("each turn of the assistant is followed by one message of 81,600 zero bytes", async () => {
    const { client, runtimeCall } = await bench.call();
    const turn = Buffer.alloc(2_000, 7);
    runtimeCall.sendAudio(turn);
    runtimeCall.assistantStopped();
    runtimeCall.send({ type: "speech-update", status: "stopped", role: "user", turn: 0 });
    runtimeCall.send({ message: { type: "speech-update", status: "stopped", role: "assistant", turn: 1 } });
    runtimeCall.sendAudio(turn);
    await client.received(2 * turn.length + 2 * TRAILING_SILENCE_BYTES);
    expect(client.audioSizes).toEqual([2_000, TRAILING_SILENCE_BYTES, TRAILING_SILENCE_BYTES, 2_000]);
    expect(
      client
        .audio()
        .subarray(2_000, -2_000)
        .every((byte) => byte === 0),
    ).toBe(true);
    expect(client.texts).toEqual([]);
    client.hangUp();
    await runtimeCall.gone();
  });

  describe("speech in which the runtime recognised nothing", () => {
    const speech = (role: "user" | "assistant", status: "started" | "stopped") => ({
      type: "speech-update",
      status,
      role,
      turn: 0,
    });
    const transcript = { type: "transcript", role: "user", transcriptType: "final", transcript: "Hello." };

    /** A call whose runtime sends messages, and whose caller then sends silence for as long as a transcript may take. */
    async function startCall() {
      const { client, runtimeCall } = await bench.call();
      const earlier = bench.captured.lines.length;
      return {
        warnings: () =>
          bench.captured.lines.slice(earlier).filter(({ msg }) => msg.includes("recognised nothing")),
        async hear(...messages: object[]) {
          for (const message of messages) runtimeCall.send(message);
          // The agent has read all that when it passes this on, and hears the caller only then.
          const before = client.audio().length;
          runtimeCall.sendAudio(Buffer.alloc(2));
          await client.received(before + 2);
          const heard = runtimeCall.audioBytes;
          client.send(Buffer.alloc(SECONDS_3_BYTES));
          await runtimeCall.received(heard + SECONDS_3_BYTES);
        },
        async end() {
          client.hangUp();
          await runtimeCall.gone();
        },
      };
    }

    test("is a warning, once a call", async () => {
      const call = await startCall();
      const spoken = [speech("user", "started"), speech("user", "stopped")];
      await call.hear(...spoken, transcript);
      await call.hear(...spoken, speech("assistant", "started"));
      expect(call.warnings()).toEqual([]);
      await call.hear(...spoken);
      await call.hear(...spoken);
      expect(call.warnings()).toMatchObject([{ level: 40, msg: expect.stringContaining("24 kHz") }]);
      await call.end();
    });

    test("is not speech whose transcript or answer came before its end was reported", async () => {
      const call = await startCall();
      await call.hear(speech("user", "started"), transcript, speech("user", "stopped"));
      expect(call.warnings()).toEqual([]);
      await call.hear(speech("assistant", "started"), speech("assistant", "stopped"));
      await call.hear(speech("user", "started"), speech("assistant", "started"), speech("user", "stopped"));
      expect(call.warnings()).toEqual([]);
      await call.hear(speech("assistant", "stopped"), speech("user", "started"), speech("user", "stopped"));
      expect(call.warnings()).toHaveLength(1);
      await call.end();
    });

    test("is no warning while a transcript waits for its answer", async () => {
      const call = await startCall();
      const spoken = [speech("user", "started"), speech("user", "stopped")];
      await call.hear(...spoken, transcript, ...spoken);
      expect(call.warnings()).toEqual([]);
      await call.hear(speech("assistant", "started"), speech("assistant", "stopped"), ...spoken);
      expect(call.warnings()).toHaveLength(1);
      await call.end();
    });
  });

  test("a caller who hangs up ends the call at the runtime, then the socket", async () => {
    const { client, runtimeCall } = await bench.call();
    client.hangUp();
    await runtimeCall.gone();
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    expect(runtimeCall.closed?.code).toBe(1000);
  });

  test("/tool answers every call of a request in order, as single-line JSON", async () => {
    const { client, runtimeCall } = await bench.call();
    const { status, results } = await bench.postTools(runtimeCall, {
      message: {
        toolCallList: [
          { id: "a", type: "function", function: { name: "echo", arguments: { text: "one\ntwo" } } },
          { id: "b", type: "function", function: { name: "echo", arguments: '{"text":"three"}' } },
          { id: "c", type: "function", function: { name: "nobody", arguments: {} } },
        ],
      },
    });
    expect(status).toBe(200);
    expect(results.map((entry) => entry.toolCallId)).toEqual(["a", "b", "c"]);
    expect(JSON.parse(results[0]?.result ?? "")).toEqual({ text: "one\ntwo" });
    expect(results[0]?.result).not.toMatch(/[\r\n]/);
    expect(JSON.parse(results[1]?.result ?? "")).toEqual({ text: "three" });
    expect(JSON.parse(results[2]?.result ?? "").error).toContain("there is no tool nobody");
    client.hangUp();
    await runtimeCall.gone();
  });
});
