import { afterEach, expect, test } from "vitest";
import { liveClock } from "../../../../twins/sandbox/clock.ts";
import type { VendorRequest } from "../../../../twins/sandbox/operation.ts";
import { createCall, getCall } from "../../../../twins/voice-runtime/api/calls.ts";
import { voiceRuntimeConfig } from "../../../../twins/voice-runtime/config.ts";
import { startVoiceRuntime, type VoiceRuntimeTwin } from "../../../../twins/voice-runtime/twin.ts";
import { twinContext } from "../../../support/twin-context.ts";
import { KEY, playedSessions, silentSpeech, websocketCall } from "../../../support/voice-runtime.ts";

let running: VoiceRuntimeTwin | undefined;
afterEach(() => running?.stop());

test("a queued call ends by the sandbox's clock, which may jump", async () => {
  let now = Date.parse("2030-01-01T00:00:00Z");
  const twin = await startVoiceRuntime(
    { createSession: playedSessions().createSession, embedded: silentSpeech },
    twinContext("vapi", { clock: { ...liveClock, now: () => now } }),
    voiceRuntimeConfig.parse({ connect_timeout_seconds: 3600 }),
  );
  running = twin;
  const request = (params: Record<string, string>, body: object = {}): VendorRequest => ({
    method: "GET",
    path: "/call",
    origin: "http://twin.test",
    params,
    query: new URLSearchParams(),
    headers: { "user-agent": "test", authorization: `Bearer ${KEY}` },
    body: Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
  });
  const created = await createCall.handle(request({}, websocketCall()), twin);
  const { id, createdAt } = Object(created.body);
  expect(createdAt).toBe("2030-01-01T00:00:00.000Z");
  const status = async () => Object((await getCall.handle(request({ id }), twin)).body).status;
  now += 3_599_000;
  expect(await status()).toBe("queued");
  now += 1_000;
  expect(await status()).toBe("ended");
});
