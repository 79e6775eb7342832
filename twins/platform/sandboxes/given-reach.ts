/** The files and variables that a request to `/sandboxes` may name: only those that the operator has declared. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { Logger } from "pino";
import type { Reach } from "./sandbox.ts";

export interface GivenReachOptions {
  /** Folder of the environment file; relative paths start there. */
  base: string;
  /** Folders whose files a request may name, relative to `base`; none: a request names no file. */
  folders: readonly string[];
  /** Names of the variables that a request may name. */
  variables: readonly string[];
  storeLimitBytes: number | undefined;
  log: Logger;
}

/** Creates the reach of a request's services; those of the environment file may name everything. */
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
 * Resolves the path of an existing file or folder below one of the folders, except dot files and dot folders. Both the
 * path as written and the real path behind its symbolic links must be below one. Refused and missing paths get the same
 * error, so that an answer reveals nothing about other folders.
 * @returns the real path, so that a later change of a link has no effect. @throws Error naming the path as written
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

/** Whether a path is below one of the folders, without a dot name in between. */
function isVisibleBelow(folders: readonly string[], file: string): boolean {
  return folders.some((folder) => {
    const way = path.relative(folder, file);
    return !path.isAbsolute(way) && way.split(path.sep).every((name) => !name.startsWith("."));
  });
}

/** Resolves symbolic links; `undefined` unless the target is a file or folder: reading a pipe could block forever. */
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

/** Quotes a path on one line. */
function quote(file: string): string {
  return JSON.stringify(file.length > MAX_QUOTED ? `${file.slice(0, MAX_QUOTED)}…` : file);
}

/**
 * Reads environment variables, but only those listed: a service's `config` also says where a key is sent, so a free choice
 * of variables would leak all of them. @throws Error naming the variable
 */
function variablesAmong(names: readonly string[]): (name: string) => string | undefined {
  return (name) => {
    if (names.includes(name)) return process.env[name];
    throw new Error(
      `a request may not name the variable ${name}; set the service up in the environment file, or start the twins with ${name} in SANDBOX_VARIABLES`,
    );
  };
}
