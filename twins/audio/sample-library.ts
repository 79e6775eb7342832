/** The callers' recordings: a folder with `manifest.json` and one raw PCM16 file (24 kHz, mono) per sample. */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { bytesToSamples, CALLER_RATE, samplesToBytes, samplesToMs } from "./pcm.ts";

export const MANIFEST_FILE = "manifest.json";

/** A sample's name, which is also its file's: lower case words joined by hyphens. */
export const sampleNameSchema = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "use lower case letters, digits and hyphens, such as open-incident");

/** `wrong-rate`: speech at another sample rate than the file says, as a misconfigured client would send it. */
const sampleKindSchema = z.enum(["speech", "noise", "tones", "wrong-rate"]);

const manifestEntrySchema = z.strictObject({
  name: sampleNameSchema,
  kind: sampleKindSchema,
  /** What is said; empty when nothing is. */
  text: z.string(),
  /** Who says it; empty when nobody does. */
  voice: z.string(),
  durationMs: z.number().positive(),
  /** Of the file's bytes, in hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifestSchema = z
  .strictObject({
    version: z.literal(1),
    sampleRate: z.literal(CALLER_RATE),
    format: z.literal("pcm_s16le"),
    samples: z.array(manifestEntrySchema),
  })
  .refine(({ samples }) => new Set(samples.map(({ name }) => name)).size === samples.length, {
    message: "two samples have the same name",
    path: ["samples"],
  });

export type ManifestEntry = z.infer<typeof manifestEntrySchema>;
export type Manifest = z.infer<typeof manifestSchema>;

export interface Sample extends ManifestEntry {
  /** Mono PCM16 at 24 kHz. Read and verified against `sha256` on first use; shared, so never write to it. */
  readonly pcm: Int16Array;
}

export interface SampleLibrary {
  /** @throws Error listing the known samples when none has this name */
  get(name: string): Sample;
  all(): Sample[];
}

/** @throws Error saying which file is missing or invalid, where, and how to repair it */
export function readSampleLibrary(folder: string): SampleLibrary {
  const samples = new Map(
    readManifest(folder).samples.map((entry) => [entry.name, lazySample(folder, entry)]),
  );
  return {
    get(name) {
      const found = samples.get(name);
      if (found !== undefined) return found;
      throw new Error(`no sample named ${name} in ${folder}; there are: ${[...samples.keys()].join(", ")}`);
    },
    all: () => [...samples.values()],
  };
}

/** Reads and validates the manifest only. */
export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE);
  const parsed = manifestSchema.safeParse(parseJson(file));
  if (parsed.success) return parsed.data;
  throw new Error(`${file} is not a sample manifest:\n${z.prettifyError(parsed.error)}`);
}

/** Writes a sample's file. @returns its entry, which belongs into the manifest */
export function writeSample(
  folder: string,
  entry: Omit<ManifestEntry, "durationMs" | "sha256">,
  pcm: Int16Array,
): ManifestEntry {
  const bytes = samplesToBytes(pcm);
  replaceFile(sampleFile(folder, entry.name), bytes);
  return { ...entry, durationMs: Math.round(samplesToMs(pcm.length, CALLER_RATE)), sha256: sha256Of(bytes) };
}

/** Writes the manifest of these samples. Whoever listens for them reads the folder anew, so their files come first. */
export function writeManifest(folder: string, samples: ManifestEntry[]): Manifest {
  const manifest: Manifest = { version: 1, sampleRate: CALLER_RATE, format: "pcm_s16le", samples };
  replaceFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Writes a file beside its place and moves it there, so that no reader finds half of it. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

export function sampleFile(folder: string, name: string): string {
  return join(folder, `${name}.pcm`);
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function lazySample(folder: string, entry: ManifestEntry): Sample {
  let pcm: Int16Array | undefined;
  return {
    ...entry,
    get pcm() {
      pcm ??= readSampleFile(sampleFile(folder, entry.name), entry.sha256);
      return pcm;
    },
  };
}

function readSampleFile(file: string, sha256: string): Int16Array {
  const bytes = readBytes(file);
  if (sha256Of(bytes) !== sha256) {
    throw new Error(
      `${file} is not the file its manifest describes (its checksum differs): run npm run samples`,
    );
  }
  return bytesToSamples(bytes);
}

function parseJson(file: string): unknown {
  const text = readBytes(file).toString("utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON (${String(error)}): run npm run samples to make it anew`);
  }
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Error(`cannot read ${file} (${reason}): run npm run samples to make the samples`);
  }
}
