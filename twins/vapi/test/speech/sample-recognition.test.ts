import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLER_RATE } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { MANIFEST_FILE, readManifest, readSampleLibrary, sampleFile } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { afterAll, describe, expect, test } from "vitest";
import { INTERNAL_RATE } from "../../providers/provider.ts";
import { createSampleRecognition } from "../../providers/sample-recognition.ts";

const samplesFolder = SAMPLES_FOLDER;
const library = readSampleLibrary(samplesFolder);
const recognition = createSampleRecognition({ samplesFolder });
const never = new AbortController().signal;

afterAll(() => recognition.close());

function heard(name: string): Int16Array {
  return resample(library.get(name).pcm, CALLER_RATE, INTERNAL_RATE);
}

describe("recognition by samples", () => {
  test("returns the words of the sample it hears", async () => {
    const { text } = await recognition.transcribe(heard("open-incident"), "en", never);
    expect(text).toBe("Hello, I need to open an incident for the checkout service.");
  });

  test("returns null for unknown speech and noise", async () => {
    for (const name of ["noise", "tones", "wrong-rate"]) {
      expect(await recognition.transcribe(heard(name), "en", never), name).toEqual({ text: null });
    }
    expect(await recognition.transcribe(new Int16Array(0), "en", never)).toEqual({ text: null });
  });

  test("returns the words said so far", async () => {
    const unfinished = heard("open-incident").subarray(0, INTERNAL_RATE * 2);
    expect(await recognition.partial(unfinished, "en", never)).toEqual({ text: "Hello, I need to open" });
    expect(await recognition.transcribe(unfinished, "en", never)).toEqual({ text: null });
  });

  test("stops waiting when aborted, and serves the next", async () => {
    const abort = new AbortController();
    const running = recognition.transcribe(heard("yes-please"), "en", abort.signal);
    const waiting = recognition.transcribe(heard("yes-please"), "en", abort.signal);
    abort.abort(new Error("hung up"));
    await expect(running).rejects.toThrow("hung up");
    await expect(waiting).rejects.toThrow("hung up");
    await expect(recognition.transcribe(heard("yes-please"), "en", abort.signal)).rejects.toThrow("hung up");
    expect(await recognition.transcribe(heard("yes-please"), "en", never)).toEqual({
      text: "Yes, please do that.",
    });
  });

  test("recordings can be added and removed while it listens", async () => {
    const folder = mkdtempSync(join(tmpdir(), "offhook-samples-"));
    const { version, sampleRate, format, samples } = readManifest(samplesFolder);
    const write = (...names: string[]) => {
      for (const name of names) copyFileSync(sampleFile(samplesFolder, name), sampleFile(folder, name));
      const chosen = samples.filter(({ name }) => names.includes(name));
      const manifest = { version, sampleRate, format, samples: chosen };
      writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify(manifest));
    };
    write("yes-please");
    const listening = createSampleRecognition({ samplesFolder: folder });
    const hears = async (name: string) => (await listening.transcribe(heard(name), "en", never)).text;
    try {
      expect([await hears("yes-please"), await hears("open-incident")]).toEqual([
        "Yes, please do that.",
        null,
      ]);
      write("yes-please", "open-incident");
      expect(await hears("open-incident")).toMatch(/^Hello, I need to open/);
      writeFileSync(join(folder, MANIFEST_FILE), "{ half of");
      expect(await hears("open-incident")).toMatch(/^Hello, I need to open/);
      write("open-incident");
      expect([await hears("yes-please"), await hears("open-incident")]).toEqual([null, expect.any(String)]);
    } finally {
      await listening.close();
      rmSync(folder, { recursive: true });
    }
  });

  test("a folder without samples is refused at once, with what to do", () => {
    expect(() => createSampleRecognition({ samplesFolder: "/nowhere" })).toThrow("npm run samples");
  });
});
