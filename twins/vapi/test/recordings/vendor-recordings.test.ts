/** Recordings where the vendor has them: in call objects and reports, at their addresses, behind redirects. Proves a part of twins/SECURITY.md. */

import { readWav } from "@offhook/audio/wav";
import { request } from "@offhook/platform/testing/http";
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { VapiClient, VapiError } from "@vapi-ai/server-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KEY } from "../../testing/voice-runtime.ts";
import { startToneRuntime, type ToneRuntime } from "../tone-runtime.ts";

let runtime: ToneRuntime;
let hook: WebhookServer;
let client: VapiClient;
beforeEach(async () => {
  hook = await startWebhookServer();
  runtime = await startToneRuntime();
  client = new VapiClient({ token: KEY, environment: runtime.url, maxRetries: 0 });
});
afterEach(async () => {
  runtime.hangUp();
  await runtime.stop();
  await hook.stop();
});

/** A call that was greeted, said a tone and hung up. */
async function finishedCall(assistant: object = {}) {
  const { id, caller } = await runtime.join({ firstMessage: "Hello.", ...assistant });
  caller.startStreaming();
  await caller.brief("transcript assistant final: Hello.");
  await caller.say(caller.tone(900, 500));
  await caller.brief("transcript user final: Stop.");
  caller.stopStreaming();
  caller.command({ type: "end-call" });
  await caller.closed();
  await runtime.ended(id);
  return { id, caller };
}

async function download(url: string | undefined): Promise<Buffer> {
  const answer = await fetch(url ?? "");
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/wav"]);
  return Buffer.from(await answer.arrayBuffer());
}

describe("the vendor's own client", () => {
  test("finds the recordings of an ended call, beside its messages and latencies", async () => {
    const { id, caller } = await finishedCall();
    const { artifact, startedAt } = await client.calls.get({ id });
    const mono = artifact?.recording?.mono;
    expect(artifact?.recordingUrl).toBe(mono?.combinedUrl);
    expect(artifact?.stereoRecordingUrl).toBe(artifact?.recording?.stereoUrl);

    const stereo = await download(artifact?.recording?.stereoUrl);
    expect(stereo.readUInt16LE(22)).toBe(2);
    const customer = readWav(await download(mono?.customerUrl));
    expect(customer.sampleRate).toBe(24_000);
    expect(Buffer.from(customer.samples.buffer).equals(caller.sentBytes)).toBe(true);
    const assistant = readWav(await download(mono?.assistantUrl));
    const combined = readWav(await download(mono?.combinedUrl));
    const sum = customer.samples.map((sample, at) => sample + (assistant.samples[at] ?? 0));
    expect(Buffer.from(combined.samples.buffer).equals(Buffer.from(sum.buffer))).toBe(true);

    const [greeting, said] = artifact?.messages ?? [];
    if (!greeting || !("endTime" in greeting) || !said || !("endTime" in said))
      throw new Error("no messages");
    expect([greeting.role, said.role]).toEqual(["bot", "user"]);
    expect(greeting.time).toBe(Date.parse(startedAt ?? "") + greeting.secondsFromStart * 1000);
    // The recording has the greeting where the message says.
    const at = Math.round(greeting.secondsFromStart * 24_000);
    const spoken = assistant.samples.subarray(at, at + 24 * 300);
    expect(assistant.samples.subarray(0, at).every((sample) => sample === 0)).toBe(true);
    expect(spoken.some((sample) => Math.abs(sample) > 5_000)).toBe(true);

    const [turn] = artifact?.performanceMetrics?.turnLatencies ?? [];
    expect(turn).toEqual({
      modelLatency: expect.any(Number),
      voiceLatency: expect.any(Number),
      transcriberLatency: expect.any(Number),
      endpointingLatency: expect.any(Number),
      turnLatency: expect.any(Number),
    });
  });

  test("downloads them with its key, by redirects", async () => {
    const { id } = await finishedCall();
    const { artifact } = await client.calls.get({ id });
    const { rawResponse } = await client.calls
      .callArtifactControllerStereoRecordingDownload({ id })
      .withRawResponse();
    expect(rawResponse.url).toBe(artifact?.stereoRecordingUrl);
    await client.calls.callArtifactControllerMonoRecordingDownload({ id });
    await client.calls.callArtifactControllerCustomerRecordingDownload({ id });
    await client.calls.callArtifactControllerAssistantRecordingDownload({ id });
    const unknown = client.calls.callArtifactControllerMonoRecordingDownload({
      id: "00000000-0000-4000-8000-000000000000",
    });
    await expect(unknown).rejects.toMatchObject({ statusCode: 404 });
    await expect(unknown).rejects.toBeInstanceOf(VapiError);
  });
});

describe("the address of a recording", () => {
  test("is there once the call is over, and in its report; not when the plan turns recording off", async () => {
    const running = await runtime.join({ firstMessage: "Hello." });
    running.caller.startStreaming();
    await running.caller.brief("transcript assistant final: Hello.");
    expect((await client.calls.get({ id: running.id })).artifact).not.toHaveProperty("recordingUrl");
    const early = await runtime.api("GET", `/call/${running.id}/stereo-recording`);
    expect([early.status, early.body]).toEqual([
      404,
      { message: "Artifact not found.", error: "Not Found", statusCode: 404 },
    ]);

    const server = { url: `${hook.url}/server` };
    const { id } = await finishedCall({ server, serverMessages: ["end-of-call-report"] });
    const { message } = (await hook.waitFor(() => true)).body;
    const { artifact } = await client.calls.get({ id });
    expect(message.artifact.recording).toEqual(artifact?.recording);
    expect(message).toMatchObject({
      type: "end-of-call-report",
      recordingUrl: artifact?.recordingUrl,
      stereoRecordingUrl: artifact?.stereoRecordingUrl,
    });

    const off = await finishedCall({ artifactPlan: { recordingEnabled: false } });
    expect((await client.calls.get({ id: off.id })).artifact).not.toHaveProperty("recording");
    expect((await runtime.api("GET", `/call/${off.id}/mono-recording`)).status).toBe(404);
  });

  test("needs no key, cannot be guessed, and serves ranges", async () => {
    const { id } = await finishedCall();
    const { artifact } = await client.calls.get({ id });
    const url = artifact?.stereoRecordingUrl ?? "";
    expect(url).not.toContain(id);
    const whole = await download(url);
    const part = await fetch(url, { headers: { range: "bytes=40-47" } });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 40-47/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(40, 48))).toBe(true);
    for (const file of [`${id}-stereo.wav`, `${"0".repeat(32)}-stereo.wav`, "stereo.wav", "%2e%2e"]) {
      expect((await request("GET", `${runtime.url}/recordings/${file}`)).status, file).toBe(404);
    }
    const noKey = await request("GET", `${runtime.url}/call/${id}/stereo-recording`, {
      headers: { "user-agent": "test" },
    });
    expect(noKey.status).toBe(401);
  });

  test("and the audio are not in the journal", async () => {
    const { id } = await finishedCall();
    const { artifact } = await client.calls.get({ id });
    await download(artifact?.stereoRecordingUrl);
    await client.calls.callArtifactControllerStereoRecordingDownload({ id });
    const [, secret = ""] = /recordings\/([0-9a-f]+)-/.exec(artifact?.stereoRecordingUrl ?? "") ?? [];
    expect(secret).toMatch(/^[0-9a-f]{32}$/);
    const { requests } = (await runtime.control("GET", "/requests?limit=1000")).body;
    const downloads = requests.filter(
      ({ operation }: { operation: string }) => operation === "recording.download",
    );
    expect(downloads).toHaveLength(2);
    expect(downloads[0]).toMatchObject({ path: "/recordings/***" });
    expect(JSON.stringify(requests)).not.toContain(secret);
    expect(JSON.stringify(requests)).not.toContain("WAVEfmt");
  });

  test("is gone with the call's record", async () => {
    const { id } = await finishedCall();
    const { artifact } = await client.calls.get({ id });
    await client.calls.delete({ id });
    expect((await fetch(artifact?.recordingUrl ?? "")).status).toBe(404);
  });
});
