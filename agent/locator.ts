/** `.offhook/agent.json`: tells the programs of development where the agent listens. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = ".offhook";

/** Writes the file. @returns removes it again, unless another agent has written it since */
export async function writeLocator(url: string): Promise<() => Promise<void>> {
  const file = join(FOLDER, "agent.json");
  const content = `${JSON.stringify({ url, pid: process.pid })}\n`;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(file, content, { mode: 0o600 });
  return async () => {
    const current = await readFile(file, "utf8").catch(() => undefined);
    if (current === content) await rm(file, { force: true });
  };
}
