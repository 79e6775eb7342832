import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

const TRAILING_SILENCE_BYTES = 81_600;

describe("the caller's framing", () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startAgentBench();
  });
  afterAll(() => bench.stop());

  for (const options of [
    { framing: "json" as const },
    { framing: "json" as const, subprotocols: ["json"], query: "" },
  ]) {
    const how = "subprotocols" in options ? "by the subprotocol json" : "by ?protocol=json";
    test(`JSON ${how}: audio travels in envelopes both ways, odd sizes and the trailing silence included`, async () => {
      const { client, runtimeCall } = await bench.call(options);
      const up = Buffer.from([1, 2, 3, 4, 5, 6]);
      client.sendJson({ type: "audio", audio: up.subarray(0, 3).toString("base64") });
      client.sendJson({ type: "audio", audio: up.subarray(3).toString("base64") });
      await runtimeCall.received(up.length);
      expect(runtimeCall.audio()).toEqual(up);
      runtimeCall.sendAudio(Buffer.from([9, 8, 7]));
      runtimeCall.assistantStopped();
      runtimeCall.sendAudio(Buffer.from([6, 5, 4]));
      await client.received(6 + TRAILING_SILENCE_BYTES);
      expect(client.audioSizes).toEqual([2, TRAILING_SILENCE_BYTES, 4]);
      // The half sample before the silence belongs to the sample after it.
      expect([...client.audio().subarray(0, 2)]).toEqual([9, 8]);
      expect([...client.audio().subarray(-4)]).toEqual([7, 6, 5, 4]);
      expect(client.texts.map((text) => JSON.parse(text).type)).toEqual(["audio", "audio", "audio"]);
      client.sendJson({ type: "end" });
      expect((await client.gone()).code).toBe(1000);
      await runtimeCall.gone();
      expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    });
  }

  test("the chosen subprotocol is confirmed", async () => {
    const { client, runtimeCall } = await bench.call({ subprotocols: ["other", "json"] });
    expect(client.socket.protocol).toBe("json");
    client.hangUp();
    await runtimeCall.gone();
  });

  test("an unknown protocol is refused with 400 and what would be right", async () => {
    await expect(VoiceClient.connect(bench.agent.url, { query: "protocol=mulaw" })).rejects.toThrow("400");
  });

  const violations = [
    { what: "text in binary framing", options: {}, send: "hello", code: 1003 },
    {
      what: "bad JSON in JSON framing",
      options: { framing: "json" as const },
      send: "{",
      code: 1007,
    },
    {
      what: "an unknown envelope in JSON framing",
      options: { framing: "json" as const },
      send: '{"type":"audio","audio":"not base64!"}',
      code: 1007,
    },
    {
      what: "binary in JSON framing",
      options: { framing: "json" as const },
      send: Buffer.alloc(4),
      code: 1003,
    },
  ];
  for (const { what, options, send, code } of violations) {
    test(`${what} ends the call with ${code}, a reason and a log line`, async () => {
      const { client, runtimeCall } = await bench.call(options);
      client.socket.send(send);
      const closed = await client.gone();
      expect(closed.code).toBe(code);
      expect(closed.reason).not.toBe("");
      await runtimeCall.gone();
      expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
      const line = await bench.captured.line((one) => one.reason === closed.reason, "the violation");
      expect(line.outcome).toBe("protocol_violation");
    });
  }

  test("a frame of more than 4 MiB ends the call as a protocol violation", async () => {
    const tooLarge = await bench.call();
    tooLarge.client.send(Buffer.alloc(4 * 1024 * 1024 + 1));
    expect((await tooLarge.client.gone()).code).toBe(1009);
    await tooLarge.runtimeCall.gone();
    expect(tooLarge.runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    const line = await bench.captured.line((one) => one.reason === "Max payload size exceeded", "the end");
    expect(line.outcome).toBe("protocol_violation");
  });
});
