import { afterEach, expect, test } from "vitest";
import { SandboxClock } from "../../../../twins/sandbox/clock.ts";
import type { VendorRequest } from "../../../../twins/sandbox/operation.ts";
import { createCall, getCall } from "../../../../twins/voice-runtime/api/calls.ts";
import { voiceRuntimeConfig } from "../../../../twins/voice-runtime/config.ts";
import { startVoiceRuntime, type VoiceRuntimeTwin } from "../../../../twins/voice-runtime/twin.ts";
import { twinContext } from "../../../support/twin-context.ts";
import { KEY, playedSessions, silentSpeech, websocketCall } from "../../../support/voice-runtime.ts";

const startMs = Date.parse("2030-01-01T00:00:00Z");
let running: VoiceRuntimeTwin | undefined;
afterEach(() => running?.stop());

async function start(clock: SandboxClock, waitSeconds: number): Promise<VoiceRuntimeTwin> {
  running = await startVoiceRuntime(
    { createSession: playedSessions().createSession, embedded: silentSpeech },
    twinContext("vapi", { clock }),
    voiceRuntimeConfig.parse({ connect_timeout_seconds: waitSeconds }),
  );
  return running;
}

const request = (params: Record<string, string>, body: object = {}): VendorRequest => ({
  method: "GET",
  path: "/call",
  params,
  query: new URLSearchParams(),
  headers: { "user-agent": "test", authorization: `Bearer ${KEY}` },
  body: Buffer.from(JSON.stringify(body)),
  signal: new AbortController().signal,
});

async function newCall(twin: VoiceRuntimeTwin) {
  const created = Object((await createCall.handle(request({}, websocketCall()), twin)).body);
  const get = async () => Object((await getCall.handle(request({ id: created.id }), twin)).body);
  return { created, get };
}

test("a queued call ends by the sandbox's clock, which may jump", async () => {
  const clock = new SandboxClock();
  clock.set({ now: startMs, speed: 0 });
  const { created, get } = await newCall(await start(clock, 3600));
  expect(created.createdAt).toBe("2030-01-01T00:00:00.000Z");
  clock.set({ now: startMs + 3_599_000, speed: 0 });
  expect((await get()).status).toBe("queued");
  clock.set({ now: startMs + 3_600_000, speed: 0 });
  expect(await get()).toMatchObject({
    status: "ended",
    endedAt: "2030-01-01T01:00:00.000Z",
    endedReason: "call.in-progress.error-vapifault-transport-never-connected",
  });
});

test("while the clock stands still a queued call waits, however long its wait is by the machine's", async () => {
  const frozen = new SandboxClock();
  frozen.set({ now: startMs, speed: 0 });
  const live = new SandboxClock();
  const waits = await newCall(await start(frozen, 0.05));
  const first = running;
  const ends = await newCall(await start(live, 0.1));
  await expect.poll(async () => (await ends.get()).status).toBe("ended");
  expect((await waits.get()).status).toBe("queued");
  frozen.set({});
  await expect.poll(async () => (await waits.get()).status).toBe("ended");
  await first?.stop();
});

test("a clock that runs faster ends the wait sooner", async () => {
  const clock = new SandboxClock();
  clock.set({ speed: 10_000 });
  const { get } = await newCall(await start(clock, 600));
  await expect.poll(async () => (await get()).status).toBe("ended");
});
