/** Files under `.offhook/` by which the project's programs find each other on a machine. */
import { access, constants, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { isRunning } from "../base/is-running.ts";

const FOLDER = ".offhook";

/** `.offhook` cannot be written; the message says what to do. */
export class OwnFolderError extends Error {
  override name = "OwnFolderError";
}

/**
 * Creates `.offhook` in a folder; call it before anything stores files there.
 * @param parent default: the current folder
 * @throws OwnFolderError
 */
export async function requireOwnFolder(parent = "."): Promise<void> {
  const folder = path.resolve(parent, FOLDER);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : String(error);
    throw new OwnFolderError(
      `${folder} cannot be written (${code}): addresses, certificates and datasets are kept there. Make it a folder that you may write, or start this in another folder.`,
      { cause: error },
    );
  }
}

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

const writer = z.object({ pid: z.int() });

/** Reads `.offhook/<name>.json` of the current folder; `undefined` when no running process has written one. */
export async function readLocator<Content>(
  name: string,
  schema: z.ZodType<Content>,
): Promise<Content | undefined> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path.resolve(FOLDER, `${name}.json`), "utf8"));
  } catch {
    return undefined;
  }
  const { data: written } = writer.safeParse(content);
  return written && isRunning(written.pid) ? schema.safeParse(content).data : undefined;
}

async function isOurs(file: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(file, "utf8")).pid === process.pid;
  } catch {
    return false;
  }
}
