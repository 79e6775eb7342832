/** The files and variables that somebody may name who talks to `/sandboxes`: not all that the machine has. */
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

/**
 * Reads variables of the machine, and refuses those that are not among the names: a service's `config` says where a key
 * is sent, so whoever may name any variable has all of them. @throws Error naming the variable
 */
export function variablesAmong(names: readonly string[]): (name: string) => string | undefined {
  return (name) => {
    if (names.includes(name)) return process.env[name];
    throw new Error(
      `a request may not name the variable ${name}; set the service up in the environment file, or start the twins with ${name} in SANDBOX_VARIABLES`,
    );
  };
}
