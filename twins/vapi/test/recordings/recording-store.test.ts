/** The bounds of the recordings, and what is left of them. Proves a part of twins/SECURITY.md. */
import { randomUUID } from "node:crypto";
import { access, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { Recording } from "../../recordings/recording.ts";
import { RecordingStore } from "../../recordings/recording-store.ts";

const MEGABYTE = 1024 * 1024;
const RATE = 24_000;
/** So many samples of both sides are a megabyte. */
const MEGABYTE_SAMPLES = MEGABYTE / 2;
let store: RecordingStore;
afterEach(() => store.close());

function open(limits: { calls: number; bytes: number }): string[] {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  store = new RecordingStore(limits, log);
  return lines;
}

function record(callId: string, samples: number): Recording | undefined {
  const recording = store.start(callId, RATE);
  recording?.take(new Int16Array(samples).fill(7));
  return recording;
}

async function contentOf(callId: string): Promise<Buffer> {
  const recording = store.find(callId)?.recording;
  if (recording === undefined) throw new Error(`no recording of ${callId}`);
  return Buffer.concat(await Readable.from(recording.read(0, recording.bytes)).toArray());
}

test("keeps the newest calls: the oldest ended one goes first, a running one stays", () => {
  open({ calls: 2, bytes: MEGABYTE });
  record("running", 100);
  record("ended", 100)?.end();
  record("third", 100);
  expect(["running", "ended", "third"].map((id) => store.find(id) !== undefined)).toEqual([
    true,
    false,
    true,
  ]);
});

test("does not record a call for which running ones leave no place, and says so", () => {
  const lines = open({ calls: 1, bytes: MEGABYTE });
  record("first", 100);
  expect(record("second", 100)).toBeUndefined();
  expect(lines.join()).toContain("the call is not recorded: so many others are");
  expect(store.find("first")?.recording.state).toBe("running");
});

test("none is made when the limit is 0 calls", () => {
  open({ calls: 0, bytes: MEGABYTE });
  expect(record("first", 100)).toBeUndefined();
});

test("keeps to its bytes: ended calls go, a running one that exceeds them stops, and says so", async () => {
  const lines = open({ calls: 10, bytes: 2 * MEGABYTE });
  record("ended", MEGABYTE_SAMPLES)?.end();
  const running = record("running", 3 * MEGABYTE_SAMPLES);
  expect(store.find("ended")).toBeUndefined();
  expect(running?.state).toBe("stopped");
  expect(running?.bytes).toBe(2 * MEGABYTE);
  expect(lines.join()).toContain("raise recordings.megabytes");
  expect(lines.join()).toContain("the call is not recorded any further");
  expect((await contentOf("running")).length).toBe(2 * MEGABYTE);
  running?.end();
  record("next", MEGABYTE_SAMPLES)?.end();
  expect(store.find("running")).toBeUndefined();
  expect((await contentOf("next")).every((byte, at) => byte === (at % 2 === 0 ? 7 : 0))).toBe(true);
});

test("an ended recording takes the room of what it holds, not of the chunk it had begun", () => {
  open({ calls: 100, bytes: MEGABYTE });
  for (let call = 0; call < 50; call++) record(`call-${call}`, 100)?.end();
  expect(store.find("call-0")).toBeDefined();
});

test("reads the same while it is written and afterwards", async () => {
  open({ calls: 1, bytes: 8 * MEGABYTE });
  const recording = store.start("call", RATE);
  const samples = Int16Array.from({ length: MEGABYTE_SAMPLES + 1_000 }, (_, at) => at % 30_011);
  for (let at = 0; at < samples.length; at += 2_400) recording?.take(samples.slice(at, at + 2_400));
  const early = await contentOf("call");
  recording?.end();
  await recording?.settled();
  const late = await contentOf("call");
  const expected = Buffer.from(samples.buffer);
  expect([early.equals(expected), late.equals(expected)]).toEqual([true, true]);
});

test("stops when its file cannot be written, says why, and still has what it took", async () => {
  open({ calls: 1, bytes: MEGABYTE });
  const reasons: string[] = [];
  const recording = new Recording({
    sampleRate: RATE,
    file: () => Promise.reject(new Error("no space left on device")),
    reserve: () => true,
    release: () => undefined,
    onStop: (reason) => reasons.push(reason),
  });
  const samples = new Int16Array(100_000).fill(7);
  recording.take(samples);
  await recording.settled();
  recording.take(samples);
  expect([recording.state, reasons]).toEqual([
    "stopped",
    ["its file cannot be written: no space left on device"],
  ]);
  const kept = Buffer.concat(await Readable.from(recording.read(0, recording.bytes)).toArray());
  expect(kept.equals(Buffer.from(samples.buffer))).toBe(true);
});

test("removes the files of removed calls, and its folder when it closes", async () => {
  open({ calls: 10, bytes: 8 * MEGABYTE });
  const id = randomUUID();
  const recording = record(id, MEGABYTE_SAMPLES);
  recording?.end();
  await recording?.settled();
  const file = await fileOf(id);
  await store.clear();
  await expect(access(file)).rejects.toThrow("ENOENT");
  await access(path.dirname(file));
  await store.close();
  await expect(access(path.dirname(file))).rejects.toThrow("ENOENT");
});

/** The file of a call, in whichever folder of recordings; other tests have theirs beside it. */
async function fileOf(callId: string): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith("offhook-recordings-")) continue;
    const file = path.join(tmpdir(), name, `${callId}.pcm`);
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  throw new Error("the call has no file");
}
