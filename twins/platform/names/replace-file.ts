import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";

/** Replaces a file atomically; only its owner can read it. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600, flag: "wx" });
  await rename(draft, file);
}
