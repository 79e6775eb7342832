/** `.offhook/agent.json`: tells the programs of development where the agent listens. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "./log.ts";

const FOLDER = ".offhook";

/**
 * Writes the file; a failure is logged and does not stop the agent.
 * @returns removes it again, unless another agent has written it since
 */
export async function writeLocator(url: string, log: Logger): Promise<() => Promise<void>> {
  const file = join(FOLDER, "agent.json");
  const content = `${JSON.stringify({ url, pid: process.pid })}\n`;
  try {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(file, content, { mode: 0o600 });
  } catch (error) {
    const hint = `npm run dial finds this agent only by --url ${url}; make ${FOLDER} a folder that may be written`;
    log.warn({ err: messageOf(error), hint }, `${file} cannot be written`);
  }
  return async () => {
    const current = await readFile(file, "utf8").catch(() => undefined);
    if (current === content) await rm(file, { force: true });
  };
}
