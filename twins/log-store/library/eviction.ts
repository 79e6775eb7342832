/** Bounds the disk space of a library: removes the leftovers of ended processes, and the least recently used datasets. */
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";

/** Removes the folders (`<process>-…`) of ended processes. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number.parseInt(name, 10);
    if (!isRunning(pid)) await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

/** Removes the least recently used datasets beyond so many bytes. */
export async function evictDatasets(folder: string, maxBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".duckdb"));
  const datasets = await Promise.all(names.map((name) => describe(path.join(folder, name))));
  datasets.sort((a, b) => b.usedAtMs - a.usedAtMs);
  let bytes = 0;
  for (const dataset of datasets) {
    bytes += dataset.bytes;
    if (bytes <= maxBytes) continue;
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
  // A dataset without a description is new: another process is about to write that.
  const usedAtMs = used?.mtimeMs ?? database?.mtimeMs ?? 0;
  return { file, description, bytes: database?.size ?? 0, usedAtMs };
}
