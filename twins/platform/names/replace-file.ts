import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";

/** Writes a file that its owner alone can read; a reader at the same time finds the old text or the new, never a part. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600, flag: "wx" });
  await rename(draft, file);
}
