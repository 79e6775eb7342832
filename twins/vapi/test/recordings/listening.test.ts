/** Listeners of a running call: what they hear is what the call's recording holds. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import { bytesToSamples } from "@offhook/audio/pcm";
import { Watched } from "@offhook/platform/testing/watched";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { CallListeners } from "../../recordings/call-listeners.ts";
import { frequencyOf, VOICE_HZ } from "../../testing/tone-speech.ts";
import { KEY } from "../../testing/voice-runtime.ts";
import { startToneRuntime, type ToneRuntime } from "../tone-runtime.ts";

const START = { type: "start", encoding: "linear16", container: "raw", sampleRate: 16_000, channels: 2 };
let runtime: ToneRuntime;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  runtime = await startToneRuntime();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  runtime.hangUp();
  await runtime.stop();
});

interface Listener {
  messages: Record<string, unknown>[];
  audio(): Int16Array;
  closed: Promise<number>;
}

/** Joins, and resolves with the first message. */
async function listen(url: string, headers: Record<string, string> = {}): Promise<Listener> {
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  const chunks: Buffer[] = [];
  const messages: Record<string, unknown>[] = [];
  const watched = new Watched();
  socket.on("message", (data: RawData, isBinary: boolean) => {
    if (!Buffer.isBuffer(data)) return;
    if (isBinary) chunks.push(data);
    else messages.push(JSON.parse(data.toString()));
    watched.changed();
  });
  const closed = once(socket, "close").then(([code]) => code);
  await watched.until(() => messages.length > 0, "the first message");
  return { messages, audio: () => bytesToSamples(Buffer.concat(chunks)), closed };
}

/** The status with which an upgrade was refused. */
async function refusal(url: string, headers: Record<string, string> = {}): Promise<number> {
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  return response.statusCode;
}

test("several listeners hear both sides as they are recorded, and read the client's messages, to the end of the call", async () => {
  const { id, created, caller } = await runtime.join(
    { firstMessage: "Hello.", clientMessages: ["transcript", "status-update"] },
    { format: "pcm_s16le", sampleRate: 16_000 },
  );
  const one = await listen(created.monitor.listenUrl);
  const other = await listen(created.monitor.listenUrl);
  caller.startStreaming();
  await caller.brief("transcript assistant final: Hello.");
  await caller.say(caller.tone(200, 400));
  caller.stopStreaming();
  caller.command({ type: "end-call" });
  expect(await Promise.all([caller.closed(), one.closed, other.closed])).toEqual([1000, 1000, 1000]);
  await runtime.ended(id);

  const file = await fetch(`${runtime.controlUrl}/sim/recordings/${id}`, {
    headers: { "x-api-key": runtime.apiKey },
  });
  const recorded = Buffer.from(await file.arrayBuffer()).subarray(44);
  for (const { audio, messages } of [one, other]) {
    // On a slow machine the call is under way before both have joined.
    const heard = Buffer.from(audio().buffer);
    expect(heard.length).toBeGreaterThan(recorded.length / 2);
    expect(heard.equals(recorded.subarray(-heard.length))).toBe(true);
    expect(messages.length).toBeGreaterThan(2);
    expect(messages).toEqual([START, ...caller.messages.slice(1 - messages.length)]);
  }
});

test("a listener who joins later hears the rest, at 16 kHz whatever the call has", async () => {
  const { created, caller } = await runtime.join({ firstMessageMode: "assistant-waits-for-user" });
  caller.startStreaming();
  await caller.say(caller.tone(200, 1_000));
  const listener = await listen(created.monitor.listenUrl);
  expect(listener.messages[0]).toEqual(START);
  caller.command({ type: "say", content: "One moment." });
  await caller.brief("transcript assistant final: One moment.");
  caller.stopStreaming();
  caller.command({ type: "end-call" });
  await listener.closed;
  const audio = listener.audio();
  const heardMs = audio.length / 2 / 16;
  expect(heardMs).toBeLessThan(caller.sentMs - 900);
  const voice = audio.filter((_, at) => at % 2 === 1);
  const from = voice.findIndex((sample) => Math.abs(sample) > 4_000);
  expect(frequencyOf(voice.subarray(from, from + 16 * 400), 16_000)).toBeCloseTo(VOICE_HZ, -1);
});

test("none is taken where the plan forbids it, without the key where it asks for one, or for no live call", async () => {
  const off = await runtime.join({ firstMessage: "Hello.", monitorPlan: { listenEnabled: false } });
  expect(off.created.monitor).not.toHaveProperty("listenUrl");
  const url = `${runtime.url.replace("http", "ws")}/${off.id}/listen`;
  expect(await refusal(url)).toBe(404);
  const locked = await runtime.join({ monitorPlan: { listenAuthenticationEnabled: true } });
  const { listenUrl } = locked.created.monitor;
  expect(await refusal(listenUrl)).toBe(401);
  expect(await refusal(listenUrl, { authorization: "Bearer wrong" })).toBe(401);
  expect((await listen(listenUrl, { authorization: `Bearer ${KEY}` })).messages[0]).toEqual(START);
  locked.caller.command({ type: "end-call" });
  await locked.caller.closed();
  await runtime.ended(locked.id);
  expect(await refusal(listenUrl, { authorization: `Bearer ${KEY}` })).toBe(404);
});

test("no more than sixteen", async () => {
  const { created } = await runtime.join({ firstMessage: "Hello." });
  for (let count = 0; count < 16; count++) await listen(created.monitor.listenUrl);
  expect(await refusal(created.monitor.listenUrl)).toBe(429);
});

test("one who does not read is cut off; the others hear on", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const join = async () => {
    const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
    sockets.push(client);
    const [[socket]] = await Promise.all([once(server, "connection"), once(client, "open")]);
    return { client, socket };
  };
  const deaf = await join();
  const good = await join();
  const listeners = new CallListeners(16_000, pino({ level: "silent" }));
  deaf.client.pause();
  listeners.add(deaf.socket);
  listeners.add(good.socket);
  const cutOff = once(deaf.socket, "close");
  let isCutOff = false;
  void cutOff.then(() => {
    isCutOff = true;
  });
  let heardBytes = 0;
  const watched = new Watched();
  good.client.on("message", (data, isBinary) => {
    if (isBinary && Buffer.isBuffer(data)) heardBytes += data.length;
    watched.changed();
  });
  const block = new Int16Array(32_000).fill(1);
  let sentBytes = 0;
  while (!isCutOff) {
    listeners.take(block);
    sentBytes += 2 * block.length;
    await watched.until(() => heardBytes === sentBytes, "the block at the listener who reads");
  }
  expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  listeners.take(block);
  await watched.until(() => heardBytes === sentBytes + 2 * block.length, "another block");
  server.close();
});
