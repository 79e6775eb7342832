/** A copy of a database file: shared blocks where the file system can. */
import { constants, copyFile } from "node:fs/promises";

export function copyDatabase(from: string, to: string): Promise<void> {
  return copyFile(from, to, constants.COPYFILE_FICLONE);
}
