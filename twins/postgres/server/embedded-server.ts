/** A real Postgres server of our own: a fresh cluster in a temporary folder, on a free port of the loopback interface. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  access,
  chown,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { guardChild } from "@offhook/platform/base/child-guard";
import { makeTemporaryFolder } from "@offhook/platform/base/temporary-folder";
import type { Logger } from "pino";
import { type Binaries, prepareBinaries, type UnprivilegedUser } from "./binaries.ts";
import { endProcess, Supervisor } from "./supervisor.ts";

export interface EmbeddedServer {
  /** Connection string of the ADMINISTRATOR, database `postgres`. */
  adminUrl: string;
  /** Why its process does not run and what to do; `undefined` while it does. */
  outage(): string | undefined;
  /** Resolves when no restart is under way. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const ADMINISTRATOR = "postgres";
const MAX_PORT_ATTEMPTS = 5;
const START_MS = 30_000;
/** Last lines of the log, for error messages. */
const MAX_LOG_LINES = 20;
/** Longest wait for the last lines of an ended server. */
const LAST_LINES_MS = 500;
/** A server takes 50 MB and a sandbox 8 MB, before the data of the code under test. */
const MIN_MEMORY_BYTES = 2 * 1024 ** 3;

/**
 * Nothing is flushed to disk, for the data need not survive a crash of the machine. It survives one of the server, since commits hand it
 * to the operating system. Settings that affect query results keep their defaults.
 */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Two hundred sandboxes at once take one connection each, and a few more while they work.
  max_connections: "1000",
  shared_buffers: "64MB",
  fsync: "off",
  full_page_writes: "off",
  max_wal_size: "256MB",
  lc_messages: "C",
  // A failed statement may contain a password (CREATE ROLE) or a caller's words: keep it out of the log.
  log_min_error_statement: "panic",
  // Iterations protect guessable passwords; these are 18 random bytes.
  scram_iterations: "1",
  log_timezone: "UTC",
  timezone: "UTC",
  // Shared memory in the data folder is deleted with it; that of shm_open would outlive a killed server.
  ...(process.platform !== "win32" && { dynamic_shared_memory_type: "mmap" }),
};

/** Of data that is to last: a commit is on disk. */
const lastingSettings = { ...settings, fsync: "on", full_page_writes: "on" };

/**
 * Starts a server, and resolves when it accepts connections. If it ends by itself, it is restarted on its data and port.
 * @throws Error with the server's last lines
 */
export async function startEmbeddedServer(log: Logger): Promise<EmbeddedServer> {
  const user = unprivilegedUser();
  const temporary = await makeTemporaryFolder(await dataParent(), "offhook-postgres-data-");
  const folder = temporary.path;
  try {
    if (user) await chown(folder, user.uid, user.gid);
    const binaries = await prepareBinaries(user);
    const password = randomBytes(18).toString("base64url");
    await makeCluster({ binaries, folder, password, user, settings });
    const programs = { binaries, folder, user, log, lasts: false };
    const { child, port } = await startServer(programs);
    const launch = async (signal: AbortSignal) => {
      await endOrphans(folder);
      return launchServer(programs, port, signal);
    };
    const supervisor = new Supervisor({ child, launch, log });
    return {
      adminUrl: adminUrlOf(password, port),
      outage: () => supervisor.outage,
      settled: () => supervisor.settled(),
      stop: async () => {
        await supervisor.stop();
        await endOrphans(folder);
        await temporary.remove();
      },
    };
  } catch (error) {
    await temporary.remove();
    throw error;
  }
}

/**
 * Starts the server of a folder whose data outlasts it; the first time, the folder and its data are created. Postgres
 * itself sees to it that only one server runs on the data.
 * @param folder absolute; its owner's alone
 * @throws Error with the server's last lines, as when another process runs one on it
 */
export async function startLastingServer(folder: string, log: Logger): Promise<EmbeddedServer> {
  const user = unprivilegedUser();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (user) await chown(folder, user.uid, user.gid);
  if (user) await requirePassage(dirname(folder));
  const binaries = await prepareBinaries(user);
  const { password, port: lastPort } = await openLastingFolder(binaries, folder, user);
  const programs = { binaries, folder, user, log, lasts: true };
  // On the port it had, those who knew its address find it again.
  const { child, port } = await launchServer(programs, lastPort).then(
    (launched) => ({ child: launched, port: lastPort }),
    () => startServer(programs),
  );
  await writeFile(join(folder, PORT_FILE), String(port), { mode: 0o600 });
  const supervisor = new Supervisor({
    child,
    launch: async (signal) => {
      await endOrphans(folder);
      return launchServer(programs, port, signal);
    },
    log,
  });
  return {
    adminUrl: adminUrlOf(password, port),
    outage: () => supervisor.outage,
    settled: () => supervisor.settled(),
    stop: () => supervisor.stop(),
  };
}

/** @throws Error naming the first folder that an unprivileged user cannot enter */
async function requirePassage(folder: string): Promise<void> {
  if (dirname(folder) !== folder) await requirePassage(dirname(folder));
  if (((await stat(folder)).mode & constants.S_IXOTH) === 0) {
    throw new Error(`Postgres does not run as root, and other users cannot enter ${folder}`);
  }
}

const PASSWORD_FILE = "administrator";
const PORT_FILE = "port";

/** Creates the data at the first time: under another name, and then renamed, so that nobody sees half of it. */
async function openLastingFolder(
  binaries: Binaries,
  folder: string,
  user: UnprivilegedUser | undefined,
): Promise<{ password: string; port: number }> {
  const read = (name: string) => readFile(join(folder, name), "utf8").catch(() => undefined);
  if ((await read(join("data", "PG_VERSION"))) === undefined) {
    const draft = await mkdtemp(join(folder, "draft-"));
    if (user) await chown(draft, user.uid, user.gid);
    const password = randomBytes(18).toString("base64url");
    await makeCluster({ binaries, folder: draft, password, user, settings: lastingSettings });
    await writeFile(join(draft, "data", PASSWORD_FILE), password, { mode: 0o600 });
    await rename(join(draft, "data"), join(folder, "data")).catch(() => undefined); // Another process was first.
    await rm(draft, { recursive: true, force: true });
  }
  const password = await read(join("data", PASSWORD_FILE));
  if (password === undefined)
    throw new Error(`${folder} is not of this program: ${PASSWORD_FILE} is missing`);
  return { password, port: Number((await read(PORT_FILE)) ?? (await freePort())) };
}

function adminUrlOf(password: string, port: number): string {
  return `postgres://${ADMINISTRATOR}:${password}@127.0.0.1:${port}/postgres`;
}

/**
 * The folder for temporary data: in memory if there is room. A database consists of some 300 small files, which a file system on disk
 * takes ten times longer to create and remove (ext4, which searches for long-deleted inodes each time).
 */
async function dataParent(): Promise<string> {
  if (process.platform !== "linux") return tmpdir();
  const inMemory = "/dev/shm";
  try {
    await access(inMemory, constants.W_OK);
    const { bavail, bsize } = await statfs(inMemory);
    return bavail * bsize >= MIN_MEMORY_BYTES ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Postgres refuses to run as root, so root starts it as `nobody` (any unprivileged user that the system knows would do). */
function unprivilegedUser(): UnprivilegedUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));
  const user = users.find(({ name }) => name === "nobody") ?? users.find(({ uid }) => uid > 0);
  if (user) return { uid: user.uid, gid: user.gid };
  throw new Error(
    "Postgres does not run as root, and this system has no other user. Add one, or set DATABASE_SERVER_URL to any Postgres 16 or later.",
  );
}

interface NewCluster {
  binaries: Binaries;
  folder: string;
  password: string;
  user: UnprivilegedUser | undefined;
  settings: Readonly<Record<string, string>>;
}

/** The locale is Postgres' own, so that text sorts the same on every machine. */
async function makeCluster({
  binaries: { initdb },
  folder,
  password,
  user,
  settings: chosen,
}: NewCluster): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const options = [
    ...["--pgdata", join(folder, "data")],
    ...["--username", ADMINISTRATOR, "--pwfile", passwordFile, "--auth", "scram-sha-256"],
    ...["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"],
    ...["--no-sync", "--no-instructions", "--wal-segsize", "4"],
    ...Object.entries(chosen).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
  ];
  const child = spawn(initdb, options, {
    stdio: ["ignore", "ignore", "pipe"],
    ...surroundings(folder, user),
  });
  // The servers that initdb runs are in its process group.
  guardChild(child, { reach: "group", folder });
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  const [code] = await once(child, "close");
  await rm(passwordFile, { force: true });
  if (code !== 0) throw new Error(`Postgres could not make its data folder ${folder}: ${complaint.trim()}`);
}

/** In a session of its own, so that Ctrl-C and the end of a terminal do not reach it before its owner is done. */
function surroundings(folder: string, user: UnprivilegedUser | undefined) {
  const env = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot, LC_ALL: "C", TZ: "UTC" };
  return { cwd: folder, env, detached: true, ...user };
}

interface Installation {
  binaries: Binaries;
  folder: string;
  user: UnprivilegedUser | undefined;
  log: Logger;
  /** Whether the data outlasts this process. */
  lasts: boolean;
}

/** Starts it on a free port; retries, since another program may take the port first. */
async function startServer(installation: Installation): Promise<{ child: ChildProcess; port: number }> {
  let problem: unknown;
  for (let attempt = 0; attempt < MAX_PORT_ATTEMPTS; attempt++) {
    const port = await freePort();
    try {
      return { child: await launchServer(installation, port), port };
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** Resolves when it accepts connections. @throws Error with its last lines; it has ended then */
async function launchServer(
  { binaries, folder, user, log, lasts }: Installation,
  port: number,
  signal?: AbortSignal,
): Promise<ChildProcess> {
  const child = spawn(binaries.postgres, ["-D", join(folder, "data"), "-p", String(port)], {
    stdio: ["ignore", "ignore", "pipe"],
    ...surroundings(folder, user),
  });
  // SIGQUIT ends its backends too, without a checkpoint: nobody needs the data any more, or it is recovered from its log.
  guardChild(child, { reach: "child", signal: "QUIT", ...(lasts ? {} : { folder }) });
  const abort = () => void endProcess(child);
  signal?.addEventListener("abort", abort);
  const answer = await waitUntilReady(child, log);
  signal?.removeEventListener("abort", abort);
  if (answer.ready && !signal?.aborted) return child;
  await endProcess(child);
  throw new Error(`Postgres did not start: ${answer.ready ? "it was stopped" : answer.lines.join("\n")}`);
}

/**
 * Ends the backends that a killed server left. They notice its end when they next wait, which a computing backend may never do, and no
 * server starts on the data while they use its shared memory. Their working folder is the data folder.
 */
async function endOrphans(folder: string): Promise<void> {
  if (process.platform !== "linux") return; // Elsewhere restarts are retried until they end.
  const data = await realpath(join(folder, "data"));
  const processes = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  for (const pid of processes) {
    const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (workingFolder !== data) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {} // It has ended meanwhile.
  }
}

type Readiness = { ready: true } | { ready: false; lines: string[] };

/** Reads the server's log, its stderr, as long as it runs; resolves when the server is ready or has failed. */
function waitUntilReady(child: ChildProcess, log: Logger): Promise<Readiness> {
  const lines: string[] = [];
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => resolve({ ready: false, lines }), START_MS);
    const decide = (answer: Readiness) => {
      clearTimeout(giveUp);
      child.unref();
      resolve(answer);
    };
    child.on("error", (error) => decide({ ready: false, lines: [error.message] }));
    // Its children may keep the log open after it was killed, so the wait for the end of the log is bounded.
    child.once("exit", () => setTimeout(() => decide({ ready: false, lines }), LAST_LINES_MS).unref());
    if (!child.stderr) return;
    const reader = createInterface({ input: child.stderr });
    reader.on("line", (line) => {
      log.debug({ postgres: line }, "postgres");
      lines.splice(0, Math.max(0, lines.length - MAX_LOG_LINES + 1));
      lines.push(line);
      if (line.includes("database system is ready to accept connections")) decide({ ready: true });
    });
    reader.on("close", () => decide({ ready: false, lines }));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no TCP port.");
  return address.port;
}
