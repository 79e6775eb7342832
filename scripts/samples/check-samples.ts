/** Compares the samples with those that `utterances.yaml` produces. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readManifest, sampleFile, sha256Of } from "@offhook/audio/sample-library";
import type { Synthesis } from "@offhook/vapi/providers/provider";
import { type MakeSamplesOptions, makeSamples } from "./make-samples.ts";

/** A difference between the samples and `utterances.yaml`. */
export interface Difference {
  what: string;
  /** How to repair it: make the samples again, or remove a file that making would leave. */
  remedy: "make" | "remove";
}

/** Makes all samples in a temporary folder. @returns the differences */
export async function checkSamples(
  folder: string,
  synthesis: Synthesis,
  onSample?: MakeSamplesOptions["onSample"],
): Promise<Difference[]> {
  const fresh = mkdtempSync(join(tmpdir(), "offhook-samples-"));
  try {
    const made = await makeSamples({ from: folder, to: fresh, synthesis, ...(onSample && { onSample }) });
    const held = new Map(readManifest(folder).samples.map((entry) => [entry.name, entry]));
    const changed: string[] = [];
    for (const entry of made.samples) {
      const file = sampleFile(folder, entry.name);
      if (!isDeepStrictEqual(held.get(entry.name), entry))
        changed.push(`${entry.name}: not as in the manifest`);
      else if (!existsSync(file)) changed.push(`${entry.name}: there is no ${file}`);
      else if (sha256Of(readFileSync(file)) !== entry.sha256)
        changed.push(`${entry.name}: ${file} was changed`);
      held.delete(entry.name);
    }
    const unknown = [...held.keys()].map((name) => `${name}: in the manifest, not in utterances.yaml`);
    const files = made.samples.map(({ name }) => sampleFile(folder, name));
    const strays = readdirSync(folder)
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith(".pcm") && !files.includes(file))
      .map((file) => `${file}: no sample's file`);
    return [
      ...[...changed, ...unknown].map((what) => ({ what, remedy: "make" }) as const),
      ...strays.map((what) => ({ what, remedy: "remove" }) as const),
    ];
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
