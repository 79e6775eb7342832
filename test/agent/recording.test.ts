import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { afterEach, beforeEach, expect, test } from "vitest";
import wavefile from "wavefile";
import { startRecording } from "../../agent/recording.ts";
import { startAgentBench } from "../support/agent-bench.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "recording-"));
});
afterEach(() => rm(folder, { recursive: true }));

function samplesOf(value: number, milliseconds: number): Buffer {
  return Buffer.from(new Int16Array(24 * milliseconds).fill(value).buffer);
}

async function readRecording(): Promise<{ left: Float64Array; right: Float64Array; timeline: Timeline }> {
  const names = await readdir(folder);
  expect(names.map((name) => name.split(".").at(-1)).sort()).toEqual(["json", "wav"]);
  const file = async (extension: string) =>
    readFile(join(folder, names.find((name) => name.endsWith(extension)) ?? ""));
  const wav = new wavefile.WaveFile(await file("wav"));
  expect(wav.fmt).toMatchObject({ numChannels: 2, sampleRate: 24_000, bitsPerSample: 16 });
  const interleaved = wav.getSamples(true);
  const channel = (offset: number) => interleaved.filter((_sample, index) => index % 2 === offset);
  return { left: channel(0), right: channel(1), timeline: JSON.parse((await file("json")).toString()) };
}

interface Timeline {
  durationMs: number;
  events: { atMs: number; event: string; details: unknown }[];
}

test("a call leaves a stereo WAV, caller left and agent right, and its timeline", async () => {
  const bench = await startAgentBench({ env: { RECORD_DIR: folder } });
  const { client, runtimeCall } = await bench.call();
  client.send(samplesOf(1_000, 100));
  runtimeCall.sendAudio(samplesOf(2_000, 60));
  runtimeCall.send({ type: "transcript", role: "assistant", transcriptType: "final", transcript: "Hello." });
  runtimeCall.assistantStopped();
  await client.received(60 * 48 + 81_600);
  await runtimeCall.received(100 * 48);
  await bench.postTools(runtimeCall, {
    message: { toolCallList: [{ id: "1", name: "echo", arguments: { text: "x" } }] },
  });
  client.hangUp();
  await bench.idle();
  const { left, right, timeline } = await readRecording();
  expect(left.length).toBe(right.length);
  expect(left.filter((sample) => sample === 1_000)).toHaveLength(24 * 100);
  expect(right.filter((sample) => sample === 2_000)).toHaveLength(24 * 60);
  expect(right.length).toBeGreaterThanOrEqual(24 * (60 + 1_700));
  expect(timeline.durationMs).toBe(Math.round(left.length / 24));
  expect(timeline.events.map((event) => event.event)).toEqual([
    "connected",
    "transcript",
    "speech-update",
    "tool-call",
    "ended",
  ]);
  expect(JSON.stringify(timeline)).not.toContain("/transport");
  await bench.stop();
});

test("what comes late is placed late: the gap is silence, never cut into a run", async () => {
  let nowMs = 0;
  const recording = startRecording(folder, "call-1", captureLog().log, () => nowMs);
  recording.callerAudio(samplesOf(1_000, 40));
  nowMs = 640;
  recording.assistantAudio(samplesOf(2_000, 40));
  recording.assistantAudio(samplesOf(3_000, 40));
  recording.callerAudio(samplesOf(1_000, 40));
  await recording.finish();
  const { left, right } = await readRecording();
  const first = right.indexOf(2_000);
  expect(first).toBe(24 * 640);
  // In one piece, one behind the other.
  expect(
    right.slice(first, first + 24 * 80).every((sample, at) => sample === (at < 960 ? 2_000 : 3_000)),
  ).toBe(true);
  expect(left.indexOf(1_000)).toBe(0);
  expect(left.lastIndexOf(1_000)).toBe(24 * 680 - 1);
});

test("a call that runs faster than the clock is aligned by the caller's own time", async () => {
  const recording = startRecording(folder, "call-2", captureLog().log);
  for (let frame = 0; frame < 500; frame += 1) recording.callerAudio(samplesOf(1_000, 20));
  recording.assistantAudio(samplesOf(2_000, 20));
  await recording.finish();
  const { right } = await readRecording();
  expect(right.indexOf(2_000)).toBe(24 * 10_000);
});

test("files are for their owner only, and a folder that cannot be made costs a log line, not the call", async () => {
  const recording = startRecording(folder, "call-3", captureLog().log);
  recording.callerAudio(samplesOf(1, 20));
  await recording.finish();
  for (const name of await readdir(folder)) {
    expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
  }
  const captured = captureLog();
  const [file = ""] = await readdir(folder);
  const impossible = startRecording(join(folder, file, "below-a-file"), "call-4", captured.log);
  impossible.callerAudio(samplesOf(1, 20));
  await impossible.finish();
  expect(captured.lines.at(-1)?.msg).toBe("the call could not be recorded");
});
