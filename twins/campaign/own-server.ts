/** Where the embedded server of campaigns is, for the program that keeps it and for those that look for it. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Name of the connections that keep the embedded server running. */
export const LEASE_NAME = "offhook campaign lease";
/** File in which the keeper says where the server is; for its owner's eyes. */
export const ADDRESS_FILE = "address";
/** Folder of the server's data. */
export const DATA_FOLDER = "server";

/**
 * The folder of a project's campaigns. Postgres does not run as root, and what it runs as instead cannot enter `.offhook`.
 * @param project absolute path
 */
export function campaignFolder(project: string): string {
  if (process.getuid?.() !== 0) return join(project, ".offhook", "campaigns");
  const hash = createHash("sha256").update(resolve(project)).digest("hex").slice(0, 12);
  return join(tmpdir(), `offhook-campaigns-${hash}`);
}

/** The server's address, while somebody keeps it running. */
export function findAddress(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, ADDRESS_FILE), "utf8").trim();
  } catch {
    return undefined;
  }
}

/** Whether campaigns were ever stored there. */
export function hasData(folder: string): boolean {
  return existsSync(join(folder, DATA_FOLDER));
}
