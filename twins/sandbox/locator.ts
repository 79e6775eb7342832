/** Files under `.offhook/` by which programs of this project find one another on the same machine. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const FOLDER = ".offhook";

/**
 * Writes `.offhook/<name>.json` in the current folder, readable by its owner alone, with this process's `pid` added.
 * @returns a function that removes the file, unless another process has written its own since.
 */
export async function writeLocator(
  name: string,
  content: Record<string, unknown>,
): Promise<() => Promise<void>> {
  const file = path.resolve(FOLDER, `${name}.json`);
  const draft = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify({ ...content, pid: process.pid }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
  return async () => {
    if (await isOurs(file)) await rm(file, { force: true });
  };
}

async function isOurs(file: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(file, "utf8")).pid === process.pid;
  } catch {
    return false;
  }
}
