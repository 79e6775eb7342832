import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { levelDb, msToSamples, silence } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { readWav, writeWav } from "@offhook/audio/wav";
import { createFliteSynthesis } from "@offhook/vapi/providers/flite-synthesis";
import { createSampleRecognition } from "@offhook/vapi/providers/sample-recognition";
import { afterAll, describe, expect, test } from "vitest";
import { checkSamples } from "../../scripts/samples/check-samples.ts";
import { makeSamples } from "../../scripts/samples/make-samples.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const SAMPLES = join(PROJECT, "samples");
const library = readSampleLibrary(SAMPLES);
const scratch = mkdtempSync(join(tmpdir(), "offhook-samples-test-"));
const synthesis = createFliteSynthesis();

afterAll(async () => {
  await synthesis.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** `npm run samples -- …`: what it prints, or an error with its output when it fails. */
async function samplesCommand(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "scripts/samples.ts", ...args],
    { cwd: PROJECT },
  );
  expect(stderr).toBe("");
  return stdout;
}

function ownFolder(name: string): string {
  const folder = join(scratch, name);
  cpSync(SAMPLES, folder, { recursive: true, filter: (file) => !file.includes("scenarios") });
  return folder;
}

describe("the shipped samples", () => {
  test("are what the synthesiser makes of utterances.yaml, bit for bit", async () => {
    expect(await checkSamples(SAMPLES, synthesis)).toEqual([]);
  });

  test.each(library.all())(
    "$name: its file is the one described, and as long as said",
    ({ pcm, durationMs }) => {
      expect(Math.abs((pcm.length * 1_000) / 24_000 - durationMs)).toBeLessThanOrEqual(1);
    },
  );

  test.each(library.all().filter(({ kind }) => kind === "speech"))(
    "$name: silence, speech, silence",
    ({ pcm }) => {
      const margin = msToSamples(350, 24_000);
      expect(levelDb(pcm.subarray(0, margin))).toBe(Number.NEGATIVE_INFINITY);
      expect(levelDb(pcm.subarray(-margin))).toBe(Number.NEGATIVE_INFINITY);
      expect(levelDb(pcm.subarray(margin, -margin))).toBeGreaterThan(-26);
    },
  );

  test("speak in several voices, and are modest in size", () => {
    expect(new Set(library.all().map(({ voice }) => voice)).size).toBeGreaterThan(2);
    const bytes = readdirSync(SAMPLES).map((file) => statSync(join(SAMPLES, file)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5 * 1024 * 1024);
  });

  test("hold a caller who stops for 900 ms in the middle of a sentence", () => {
    const { pcm, text } = library.get("search-page-down");
    expect(text).toBe("I need to report a problem, the search page is down.");
    let [longest, run] = [0, 0];
    for (const sample of pcm.subarray(msToSamples(500, 24_000), -msToSamples(500, 24_000))) {
      run = sample === 0 ? run + 1 : 0;
      longest = Math.max(longest, run);
    }
    expect((longest * 1_000) / 24_000).toBeGreaterThanOrEqual(900);
    expect((longest * 1_000) / 24_000).toBeLessThan(930);
  });

  test("hold speech at the wrong rate", () => {
    const [wrong, right] = [library.get("wrong-rate"), library.get("open-incident")];
    expect(wrong.text).toBe(right.text);
    expect(wrong.pcm.length / right.pcm.length).toBeCloseTo(16_000 / 24_000, 3);
  });
});

describe("npm run samples", () => {
  test("add makes a sample of a recording, and it is recognised", async () => {
    const folder = ownFolder("add");
    const speech = await synthesis.speak(
      "My dog has eaten the network cable.",
      { provider: "flite", voiceId: "kal16" },
      new AbortController().signal,
    );
    const wav = join(scratch, "dog.wav");
    writeFileSync(wav, writeWav({ samples: resample(speech, 16_000, 44_100), sampleRate: 44_100 }));
    const said = await samplesCommand(
      ...[
        "add",
        "dog-and-cable",
        "--text",
        "My dog has eaten the network cable.",
        "--wav",
        wav,
        "--folder",
        folder,
      ],
    );
    expect(said).toContain("dog-and-cable");
    const source = readFileSync(join(folder, "utterances.yaml"), "utf8");
    expect(source).toContain("# What callers say.");
    expect(source).toContain("recorded: true");
    const recorded = readSampleLibrary(folder).get("dog-and-cable");
    expect(recorded).toMatchObject({
      kind: "speech",
      text: "My dog has eaten the network cable.",
      voice: "recorded",
    });
    const recognition = createSampleRecognition({ samplesFolder: folder });
    const heard = await recognition.transcribe(speech, "en", new AbortController().signal);
    await recognition.close();
    expect(heard.text).toBe("My dog has eaten the network cable.");
    expect(await samplesCommand("--check", "--folder", folder)).toContain(
      "every sample is what utterances.yaml says",
    );
  });

  test("add refuses what cannot be a sample, and leaves everything as it was", async () => {
    const folder = ownFolder("refused");
    const before = readFileSync(join(folder, "utterances.yaml"), "utf8");
    const wav = join(scratch, "hum.wav");
    writeFileSync(wav, writeWav({ samples: library.get("tones").pcm, sampleRate: 24_000 }));
    const quiet = join(scratch, "quiet.wav");
    writeFileSync(quiet, writeWav({ samples: silence(1_000, 24_000), sampleRate: 24_000 }));
    const notWav = join(scratch, "song.wav");
    writeFileSync(notWav, "ID3 this is an MP3");
    const mp3InWav = join(scratch, "mp3.wav");
    const bytes = Buffer.from(writeWav({ samples: library.get("tones").pcm, sampleRate: 24_000 }));
    bytes.writeUInt16LE(0x55, 20);
    writeFileSync(mp3InWav, bytes);
    for (const [name, file, reason] of [
      ["noise", wav, "noise is a sound"],
      ["yes-please", wav, "there is a sample yes-please already"],
      ["song", notWav, `${notWav} is no WAV file that can be read`],
      ["song", mp3InWav, "its encoding is none of PCM"],
      ["song", join(scratch, "missing.wav"), "there is no file "],
      ["No Name", wav, "use lower case letters"],
      ["quiet", quiet, "nothing can be heard"],
    ] as const) {
      const args = ["add", name, "--text", "Hum.", "--wav", file, "--folder", folder];
      const failure = await samplesCommand(...args).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
    }
    expect(readFileSync(join(folder, "utterances.yaml"), "utf8")).toBe(before);
    expect(readSampleLibrary(folder).get("noise").pcm).toEqual(library.get("noise").pcm);
    expect(readSampleLibrary(folder).get("yes-please").pcm).toEqual(library.get("yes-please").pcm);
  });

  test("add --replace puts a recording in the place of a sample", async () => {
    const folder = ownFolder("replace");
    const wav = join(scratch, "other.wav");
    writeFileSync(wav, writeWav({ samples: library.get("thanks-goodbye").pcm, sampleRate: 24_000 }));
    const words = ["add", "yes-please", "--text", "No.", "--wav", wav, "--replace", "--folder", folder];
    await samplesCommand(...words);
    expect(readSampleLibrary(folder).get("yes-please")).toMatchObject({ text: "No.", voice: "recorded" });
  });

  test("--check names the samples that are not what they should be", async () => {
    const folder = ownFolder("check");
    writeFileSync(join(folder, "yes-please.pcm"), silence(1_000, 24_000));
    writeFileSync(join(folder, "stray.pcm"), silence(10, 24_000));
    const source = readFileSync(join(folder, "utterances.yaml"), "utf8");
    writeFileSync(join(folder, "utterances.yaml"), source.replace("severity nine", "severity eight"));
    const failure = await samplesCommand("--check", "--folder", folder).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 1 });
    const output = String(failure instanceof Error && "stderr" in failure ? failure.stderr : failure);
    expect(output).toContain("yes-please.pcm was changed");
    expect(output).toContain("stray.pcm: no sample's file");
    expect(output).toContain("severity-nine: not as in the manifest");
    expect(output).toContain(`run npm run samples -- --folder ${folder} to make them anew`);
    expect(output).toContain("remove files that are no sample's");
    // Both pieces of advice followed, nothing is left to say.
    rmSync(join(folder, "stray.pcm"));
    await samplesCommand("--folder", folder);
    expect(await samplesCommand("--check", "--folder", folder)).toContain("every sample is what");
  });

  test("export writes a WAV file of a sample", async () => {
    const wav = join(scratch, "yes.wav");
    await samplesCommand("export", "yes-please", "--wav", wav);
    expect(readWav(readFileSync(wav))).toEqual({
      samples: library.get("yes-please").pcm,
      sampleRate: 24_000,
    });
  });

  test("says what is wrong with utterances.yaml, and where", async () => {
    const folder = ownFolder("wrong");
    const make = (source: string): Promise<unknown> => {
      writeFileSync(join(folder, "utterances.yaml"), source);
      return makeSamples({ from: folder, to: folder, synthesis });
    };
    await expect(make("version: 1\nutterances: [{ name: a, voice: tenor, text: Hi }]")).rejects.toThrow(
      "utterances[0]",
    );
    const twice = "{ name: a, voice: slt, text: Hi }";
    await expect(make(`version: 1\nutterances: [${twice}, ${twice}]`)).rejects.toThrow(
      "two samples are named a",
    );
    const sound = "{ name: w, kind: wrong-rate, of: b, sample_rate: 8000 }";
    await expect(make(`version: 1\nutterances: [${twice}]\nsounds: [${sound}]`)).rejects.toThrow(
      "w is made of a sample",
    );
  });

  test("shows how it is used when it cannot tell what is wanted", async () => {
    const failure = await samplesCommand("add", "nameless").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 2 });
    expect(await samplesCommand("--help")).toContain("npm run samples -- add NAME");
  });
});
