/** The files and variables that a request to `/sandboxes` may name: what the operator declares, not all that the machine has. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { Logger } from "pino";
import type { Reach } from "./sandbox.ts";

export interface GivenReachOptions {
  /** Folder of the environment file, from which relative paths start. */
  base: string;
  /** Folders whose files a request may name, relative to `base`; none: a request names no file. */
  folders: readonly string[];
  /** Names of the variables that a request may name. */
  variables: readonly string[];
  storeLimitBytes: number | undefined;
  log: Logger;
}

/** What the services of a request reach; those of the environment file reach everything. */
export function createGivenReach(options: GivenReachOptions): Reach {
  const { base, folders, variables, storeLimitBytes, log } = options;
  return {
    storeLimitBytes,
    resolvePath: pathsWithin(base, folders),
    variable: variablesAmong(variables),
    fileError(file, reason) {
      log.warn({ err: reason, file: quote(file) }, "a file that a request names cannot be used");
      return new Error(`the file ${quote(file)} cannot be used; the twins' log says why`);
    },
  };
}

/**
 * Resolves the path of a file or folder that exists below one of the folders, dot files and dot folders left out. Both the
 * path as written and the real path behind its symbolic links have to be below one. A path that is refused and one where
 * nothing exists are told in the same words, so an answer says nothing about what lies elsewhere.
 * @returns the real path, so that a link which changes later changes nothing. @throws Error naming the path as it was written
 */
export function pathsWithin(base: string, folders: readonly string[]): (file: string) => string {
  const declared = folders.map((folder) => path.resolve(base, folder));
  const allowed =
    folders.length === 0
      ? "none, for the environment file declares no request_folders"
      : `an existing one below ${folders.join(", ")} (request_folders in the environment file), dot files left out`;
  return (file) => {
    const named = path.resolve(base, file);
    const real = isVisibleBelow(declared, named) ? realPath(named) : undefined;
    const realFolders = declared.flatMap((folder) => realPath(folder) ?? []);
    if (real !== undefined && isVisibleBelow(realFolders, real)) return real;
    throw new Error(`a request may not name the file ${quote(file)}; it may name ${allowed}`);
  };
}

/** Whether a path lies below one of the folders with no dot name on the way. */
function isVisibleBelow(folders: readonly string[], file: string): boolean {
  return folders.some((folder) => {
    const way = path.relative(folder, file);
    return !path.isAbsolute(way) && way.split(path.sep).every((name) => !name.startsWith("."));
  });
}

/** The path with its links followed; `undefined` where there is neither a file nor a folder: a pipe would never end. */
function realPath(file: string): string | undefined {
  try {
    const real = realpathSync.native(file);
    const found = statSync(real);
    return found.isFile() || found.isDirectory() ? real : undefined;
  } catch {
    // It does not exist, its name is too long or holds a NUL, or its folder may not be read.
    return undefined;
  }
}

const MAX_QUOTED = 200;

/** A path on one line, as it was written. */
function quote(file: string): string {
  return JSON.stringify(file.length > MAX_QUOTED ? `${file.slice(0, MAX_QUOTED)}…` : file);
}

/**
 * Reads variables of the machine, and refuses those that are not among the names: a service's `config` says where a key
 * is sent, so whoever may name any variable has all of them. @throws Error naming the variable
 */
function variablesAmong(names: readonly string[]): (name: string) => string | undefined {
  return (name) => {
    if (names.includes(name)) return process.env[name];
    throw new Error(
      `a request may not name the variable ${name}; set the service up in the environment file, or start the twins with ${name} in SANDBOX_VARIABLES`,
    );
  };
}
