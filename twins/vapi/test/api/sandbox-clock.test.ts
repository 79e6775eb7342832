import { liveClock } from "@offhook/platform/base/clock";
import type { VendorRequest } from "@offhook/platform/http/operation";
import { twinContext } from "@offhook/platform/testing/twin-context";
import { afterEach, expect, test } from "vitest";
import { createCall, getCall } from "../../api/calls.ts";
import { voiceRuntimeConfig } from "../../config.ts";
import { KEY, playedSessions, silentSpeech, websocketCall } from "../../testing/voice-runtime.ts";
import { startVoiceRuntime, type VoiceRuntimeTwin } from "../../twin.ts";

let running: VoiceRuntimeTwin | undefined;
afterEach(() => running?.stop());

test("a queued call expires by the sandbox's clock, which may jump", async () => {
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
