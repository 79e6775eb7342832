import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { samplesToBytes } from "../pcm.ts";
import { readSampleLibrary, sha256Of } from "../sample-library.ts";

const folder = mkdtempSync(join(tmpdir(), "offhook-library-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PCM = Int16Array.of(1, -2, 3);
const ENTRY = {
  name: "hello",
  kind: "speech",
  text: "Hello.",
  voice: "slt",
  durationMs: 1,
  sha256: sha256Of(samplesToBytes(PCM)),
};

function write(manifest: object): void {
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
}

function manifestOf(...samples: object[]): object {
  return { version: 1, sampleRate: 24_000, format: "pcm_s16le", samples };
}

describe("a sample library", () => {
  test("gives samples by name, with their audio", () => {
    write(manifestOf(ENTRY));
    writeFileSync(join(folder, "hello.pcm"), samplesToBytes(PCM));
    const sample = readSampleLibrary(folder).get("hello");
    expect(sample.text).toBe("Hello.");
    expect(sample.pcm).toEqual(PCM);
    expect(sample.pcm).toBe(sample.pcm);
  });

  test("lists the known samples when asked for another", () => {
    write(manifestOf(ENTRY));
    expect(() => readSampleLibrary(folder).get("bye")).toThrow(
      `no sample named bye in ${folder}; there are: hello`,
    );
  });

  test("detects a changed or missing file when it is used", () => {
    write(manifestOf(ENTRY, { ...ENTRY, name: "gone" }));
    writeFileSync(join(folder, "hello.pcm"), samplesToBytes(Int16Array.of(1, -2, 4)));
    const library = readSampleLibrary(folder);
    expect(() => library.get("hello").pcm).toThrow("its checksum differs): run npm run samples");
    expect(() => library.get("gone").pcm).toThrow("gone.pcm (ENOENT): run npm run samples");
  });

  test("says where a manifest is wrong", () => {
    write(manifestOf({ ...ENTRY, kind: "song" }));
    expect(() => readSampleLibrary(folder)).toThrow(/samples\[0\].kind/);
    write(manifestOf({ ...ENTRY, name: "../../etc/passwd" }));
    expect(() => readSampleLibrary(folder)).toThrow("use lower case letters, digits and hyphens");
    write(manifestOf(ENTRY, ENTRY));
    expect(() => readSampleLibrary(folder)).toThrow("two samples have the same name");
    writeFileSync(join(folder, "manifest.json"), "{");
    expect(() => readSampleLibrary(folder)).toThrow("manifest.json");
    expect(() => readSampleLibrary(join(folder, "nowhere"))).toThrow("run npm run samples");
  });
});
