/** The files that somebody may name who talks to `/sandboxes`: not every file of the machine. */
import path from "node:path";

/**
 * Resolves a path as the environment file would, and refuses what lies outside the folders.
 * @param folders the first is the one that relative paths start from. @throws Error naming the path
 */
export function pathsWithin(folders: readonly [string, ...string[]]): (file: string) => string {
  return (file) => {
    const resolved = path.resolve(folders[0], file);
    if (folders.some((folder) => isWithin(folder, resolved))) return resolved;
    throw new Error(
      `the file ${file} is neither in the environment file's folder nor in the one the twins run in; a request may name no other`,
    );
  };
}

function isWithin(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
