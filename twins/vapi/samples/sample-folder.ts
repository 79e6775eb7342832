/** The folder of samples that a service names. */
import { readManifest } from "@offhook/audio/sample-library";
import type { TwinContext } from "@offhook/platform/twin/twin";
import type { VoiceRuntimeConfig } from "../config.ts";

export type SampleFolder =
  | { path: string; locked: undefined }
  /** `locked`: why no sample can be added. */
  | { path: string | undefined; locked: string };

const NAME_ONE =
  "name a folder in the environment file: recognition: { provider: samples, samples: FOLDER } in the config of vapi";

export function sampleFolderOf(
  { recognition }: VoiceRuntimeConfig,
  { resolvePath, resolveWritablePath }: Pick<TwinContext, "resolvePath" | "resolveWritablePath">,
): SampleFolder {
  if (recognition.provider !== "samples") {
    return {
      path: undefined,
      locked: `a speech-to-text server listens, which knows no samples; to use some, ${NAME_ONE}`,
    };
  }
  if (recognition.samples === undefined) {
    return { path: undefined, locked: `the service has no folder of samples; ${NAME_ONE}` };
  }
  if (resolveWritablePath) return { path: resolveWritablePath(recognition.samples), locked: undefined };
  const locked =
    "samples are added only in a sandbox of the environment file's own services, by the organisation that owns dev";
  return { path: resolvePath(recognition.samples), locked };
}

/** How many samples the embedded recogniser knows. @throws Error for a folder without a usable manifest */
export function countSpeech({ path }: SampleFolder): number {
  if (path === undefined) return 0;
  return readManifest(path).samples.filter(({ kind }) => kind === "speech").length;
}
