import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

const SECOND_BYTES = 48_000;
const TRAILING_SILENCE_BYTES = 81_600;

/** Audio in which every sample tells its place. */
function counted(samples: number, from = 0): Buffer {
  const audio = Buffer.alloc(2 * samples);
  for (let index = 0; index < samples; index += 1) audio.writeUInt16LE((from + index) % 65_536, 2 * index);
  return audio;
}

async function dropped(bench: AgentBench, direction: string): Promise<number> {
  const { body } = await bench.get("/metrics");
  const line = body.split("\n").find((one) => one.includes("audio_dropped") && one.includes(direction));
  return Number(line?.split(" ")[1] ?? 0);
}

describe("audio that cannot go on at once", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench();
  });
  afterEach(() => bench.stop());

  test("caller audio before the call socket is open is kept and forwarded in order", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    await bench.runtime.call();
    const audio = counted(3 * 24_000);
    for (let at = 0; at < audio.length; at += 961) client.send(audio.subarray(at, at + 961));
    await settled(client);
    bench.runtime.release();
    const runtimeCall = await bench.runtime.call();
    await runtimeCall.received(audio.length);
    expect(runtimeCall.audio().equals(audio)).toBe(true);
    expect(await dropped(bench, "to_runtime")).toBe(0);
  });

  test("more than ten seconds of it: the oldest is dropped in whole samples, counted, logged once", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    const audio = counted(15 * 24_000);
    for (let at = 0; at < audio.length; at += 959) client.send(audio.subarray(at, at + 959));
    await settled(client);
    bench.runtime.release();
    await runtimeCall.received(10 * SECOND_BYTES);
    const droppedBytes = await dropped(bench, "to_runtime");
    expect(droppedBytes % 2).toBe(0);
    expect(runtimeCall.audioBytes + droppedBytes).toBe(audio.length);
    expect(runtimeCall.audio().equals(audio.subarray(droppedBytes))).toBe(true);
    expect(bench.captured.lines.filter((line) => line.msg.includes("oldest is dropped"))).toHaveLength(1);
  });

  test("the runtime's first words are sent the instant its socket opens, and none is lost", async () => {
    const greeting = counted(4_800);
    bench.runtime.onOpen = (call) => call.sendAudio(greeting);
    const client = await VoiceClient.connect(bench.agent.url);
    await client.received(greeting.length);
    expect(client.audio().equals(greeting)).toBe(true);
  });

  test("a caller who reads nothing: memory stays bounded, the call stays up, the newest audio is kept", async () => {
    const { client, runtimeCall } = await bench.call();
    client.socket.pause();
    const keepSending = setInterval(() => client.send(Buffer.alloc(960)), 20);
    const chunk = 24_000;
    const chunks = 600;
    for (let index = 0; index < chunks; index += 1) {
      runtimeCall.sendAudio(counted(chunk, index * chunk));
    }
    await bench.captured.line((line) => line.msg.includes("oldest is dropped"), "the drop");
    expect(bench.agent.activeCalls).toBe(1);
    clearInterval(keepSending);
    client.socket.resume();
    runtimeCall.assistantStopped();
    await client.lastAudio(Buffer.alloc(TRAILING_SILENCE_BYTES));
    const droppedBytes = await dropped(bench, "to_caller");
    expect(droppedBytes).toBeGreaterThan(0);
    expect(droppedBytes % 2).toBe(0);
    expect(client.audioBytes + droppedBytes).toBe(chunks * chunk * 2 + TRAILING_SILENCE_BYTES);
    expect(client.audioSizes.every((size) => size % 2 === 0)).toBe(true);
    expect(client.closed).toBeUndefined();
    // The end of the flood is there, in order.
    const end = client.audio().subarray(-TRAILING_SILENCE_BYTES - 20_000, -TRAILING_SILENCE_BYTES);
    expect(end.equals(counted(10_000, chunks * chunk - 10_000))).toBe(true);
  });

  test("a runtime that reads nothing: caller audio is dropped by age and the call goes on", async () => {
    const { client, runtimeCall } = await bench.call();
    runtimeCall.socket.pause();
    const total = 30_000_000;
    const chunk = Buffer.alloc(60_000, 5);
    for (let sent = 0; sent < total; sent += chunk.length) client.send(chunk);
    await bench.captured.line((line) => line.direction === "to_runtime", "the drop");
    runtimeCall.socket.resume();
    await settled(client);
    const after = counted(2_400);
    client.send(after);
    client.hangUp();
    await runtimeCall.gone();
    expect(runtimeCall.audioBytes + (await dropped(bench, "to_runtime"))).toBe(total + after.length);
    expect(runtimeCall.audio().subarray(-after.length).equals(after)).toBe(true);
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
  });

  test("when the caller interrupts, what waits for the caller is thrown away at once", async () => {
    const { client, runtimeCall } = await bench.call();
    client.socket.pause();
    const speech = Buffer.alloc(SECOND_BYTES, 1);
    // More than the operating system buffers on the way.
    const seconds = 250;
    for (let second = 0; second < seconds; second += 1) runtimeCall.sendAudio(speech);
    runtimeCall.send({ type: "user-interrupted" });
    const line = await bench.captured.line((one) => one.msg === "the caller interrupted", "the interruption");
    expect(line.clearedBytes).toBeGreaterThan(20 * SECOND_BYTES);
    const answer = Buffer.alloc(960, 2);
    runtimeCall.sendAudio(answer);
    client.socket.resume();
    await client.lastAudio(answer);
    const lost = Number(line.clearedBytes) + (await dropped(bench, "to_caller"));
    expect(client.audioBytes).toBe(seconds * SECOND_BYTES + answer.length - lost);
  });
});

describe("the silence after a turn that has ended", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench();
  });
  afterEach(() => bench.stop());

  test("reaches the caller who interrupts the next turn before it has left", async () => {
    const { client, runtimeCall } = await bench.call();
    client.socket.pause();
    const speech = Buffer.alloc(SECOND_BYTES, 1);
    const fill = (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) runtimeCall.sendAudio(speech);
    };
    // More than the operating system buffers on the way.
    fill(250);
    runtimeCall.assistantStopped();
    fill(5);
    runtimeCall.send({ type: "user-interrupted" });
    const line = await bench.captured.line((one) => one.msg === "the caller interrupted", "the interruption");
    expect(line.clearedBytes).toBeGreaterThan(5 * SECOND_BYTES);
    const answer = Buffer.alloc(960, 2);
    runtimeCall.sendAudio(answer);
    client.socket.resume();
    await client.lastAudio(answer);
    const end = client.audio().subarray(-TRAILING_SILENCE_BYTES - answer.length, -answer.length);
    expect(end.equals(Buffer.alloc(TRAILING_SILENCE_BYTES))).toBe(true);
  });

  test("outlives what a slow caller makes the agent drop", async () => {
    const { client, runtimeCall } = await bench.call();
    client.socket.pause();
    const speech = Buffer.alloc(SECOND_BYTES, 1);
    for (let second = 0; second < 250; second += 1) runtimeCall.sendAudio(speech);
    runtimeCall.assistantStopped();
    for (let second = 0; second < 60; second += 1) runtimeCall.sendAudio(speech);
    await bench.captured.line((line) => line.msg.includes("oldest is dropped"), "the drop");
    client.socket.resume();
    const last = Buffer.alloc(960, 2);
    runtimeCall.sendAudio(last);
    await client.lastAudio(last);
    expect(client.audio().includes(Buffer.alloc(TRAILING_SILENCE_BYTES))).toBe(true);
  });
});

/** Resolves when the agent has read all the client sent so far: it answers pings in order. */
async function settled(client: VoiceClient): Promise<void> {
  const pong = once(client.socket, "pong");
  client.socket.ping();
  await pong;
}
