/** Keeps a library within its bounds: what processes left behind that are gone, and what nobody has used for longest. */
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";

/** Removes the folders (`<process>-…`) of processes that run no more. */
export async function removeLeftOvers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number.parseInt(name, 10);
    if (!isRunning(pid)) await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

/** Removes the datasets that were used longest ago until the others take no more than so many bytes. */
export async function removeOldest(folder: string, mostBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".duckdb"));
  const kept = await Promise.all(names.map((name) => describe(path.join(folder, name))));
  kept.sort((a, b) => b.usedAtMs - a.usedAtMs);
  let bytes = 0;
  for (const dataset of kept) {
    bytes += dataset.bytes;
    if (bytes <= mostBytes) continue;
    await rm(dataset.description, { force: true });
    await rm(dataset.file, { force: true });
  }
}

async function describe(file: string) {
  const description = file.replace(/\.duckdb$/, ".json");
  const [database, used] = await Promise.all([
    stat(file).catch(() => undefined),
    stat(description).catch(() => undefined),
  ]);
  // Another process may be between its two steps: what has no description yet is new.
  const usedAtMs = used?.mtimeMs ?? database?.mtimeMs ?? 0;
  return { file, description, bytes: database?.size ?? 0, usedAtMs };
}
