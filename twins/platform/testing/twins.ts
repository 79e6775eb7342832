/** Starts twins for a test, from the text of an environment file. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type RunningTwins, type StartOptions, startTwins, type TwinAddresses } from "../server/start.ts";

/** Dataset cache, so that the same file is read once. */
const DATASETS_FOLDER = path.resolve(".offhook/datasets");

/** Starts twins on a free port; the environment file is gone again when it resolves. */
export async function startEnvironment(
  text: string,
  options: Omit<StartOptions, "environmentFile">,
): Promise<RunningTwins> {
  const folder = await mkdtemp(path.join(tmpdir(), "environment-"));
  try {
    const environmentFile = path.join(folder, "environment.yaml");
    await writeFile(environmentFile, text);
    return await startTwins({ datasetFolder: DATASETS_FOLDER, ...options, environmentFile });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Addresses of one twin of the first sandbox. @throws Error when it does not run. */
export function addressesOf(twins: RunningTwins, name: string): TwinAddresses {
  const found = twins.sandboxes[0]?.twins.find((twin) => twin.name === name);
  if (!found) throw new Error(`no twin ${name} runs`);
  return found;
}
