/** A real Postgres server of our own: a fresh cluster in a temporary folder, on a free port of the loopback interface. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { access, chown, constants, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { type Binaries, readyBinaries, type UnprivilegedUser } from "./binaries.ts";

export interface EmbeddedServer {
  /** Connection string of the administrator, database `postgres`. */
  adminUrl: string;
  stop(): Promise<void>;
}

const administrator = "postgres";
const portAttempts = 5;
const readyWithinMs = 30_000;
const keptLogLines = 20;
/** A server takes 50 MB and a sandbox 8 MB, before the data of the code under test. */
const roomInMemoryBytes = 2 * 1024 ** 3;

/** Durability is off: the data does not outlive the process. Everything that shapes a query's answer is the default. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Two hundred sandboxes at once take one connection each, and a few more while they work.
  max_connections: "1000",
  shared_buffers: "64MB",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_wal_size: "256MB",
  lc_messages: "C",
  // A failed statement may hold a password (CREATE ROLE) or a caller's words: it stays out of the log.
  log_min_error_statement: "panic",
  // Repetitions protect passwords that can be guessed; each one here is 18 random bytes.
  scram_iterations: "1",
  log_timezone: "UTC",
  timezone: "UTC",
};

/** Starts a server and answers when it accepts connections. @throws Error with the server's last lines */
export async function startEmbeddedServer(log: Logger): Promise<EmbeddedServer> {
  const user = unprivilegedUser();
  const folder = await mkdtemp(join(await dataParent(), "offhook-postgres-data-"));
  const watchdog = startWatchdog(folder);
  try {
    if (user) await chown(folder, user.uid, user.gid);
    const binaries = await readyBinaries(user);
    const password = randomBytes(18).toString("base64url");
    await makeCluster(binaries, folder, password, user);
    const { child, port } = await startServer(binaries, folder, user, log);
    return {
      adminUrl: `postgres://${administrator}:${password}@127.0.0.1:${port}/postgres`,
      stop: async () => {
        await stopped(child);
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
        watchdog.stdin?.end();
      },
    };
  } catch (error) {
    watchdog.stdin?.end();
    throw error;
  }
}

/**
 * Where temporary data lies: in memory where the system offers room for it. A database is some 300 small files, and a file
 * system on disk takes ten times longer to make and remove them (ext4, which looks for long-deleted inodes each time).
 */
async function dataParent(): Promise<string> {
  if (process.platform !== "linux") return tmpdir();
  const inMemory = "/dev/shm";
  try {
    await access(inMemory, constants.W_OK);
    const { bavail, bsize } = await statfs(inMemory);
    return bavail * bsize >= roomInMemoryBytes ? inMemory : tmpdir();
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

/** In a session of its own, so that Ctrl-C and the end of a terminal do not reach it before its owner is done. */
function startWatchdog(folder: string): ChildProcess {
  const script = fileURLToPath(new URL("./watchdog.mjs", import.meta.url));
  const watchdog = spawn(process.execPath, [script, folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
    cwd: tmpdir(),
  });
  watchdog.on("error", () => {});
  watchdog.stdin?.on("error", () => {});
  watchdog.unref();
  return watchdog;
}

/** The locale is Postgres' own, so that text sorts the same on every machine. */
async function makeCluster(
  { initdb }: Binaries,
  folder: string,
  password: string,
  user: UnprivilegedUser | undefined,
): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const options = [
    ...["--pgdata", join(folder, "data")],
    ...["--username", administrator, "--pwfile", passwordFile, "--auth", "scram-sha-256"],
    ...["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"],
    ...["--no-sync", "--no-instructions", "--wal-segsize", "4"],
    ...Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
  ];
  const child = spawn(initdb, options, {
    stdio: ["ignore", "ignore", "pipe"],
    ...surroundings(folder, user),
  });
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  const [code] = await once(child, "close");
  await rm(passwordFile, { force: true });
  if (code !== 0) throw new Error(`Postgres could not make its data folder ${folder}: ${complaint.trim()}`);
}

function surroundings(folder: string, user: UnprivilegedUser | undefined) {
  const env = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot, LC_ALL: "C", TZ: "UTC" };
  return { cwd: folder, env, detached: true, ...user };
}

async function startServer(
  binaries: Binaries,
  folder: string,
  user: UnprivilegedUser | undefined,
  log: Logger,
): Promise<{ child: ChildProcess; port: number }> {
  let problem = "";
  for (let attempt = 0; attempt < portAttempts; attempt++) {
    const port = await freePort();
    const child = spawn(binaries.postgres, ["-D", join(folder, "data"), "-p", String(port)], {
      stdio: ["ignore", "ignore", "pipe"],
      ...surroundings(folder, user),
    });
    const answer = await ready(child, log);
    if (answer.ready) return { child, port };
    problem = answer.lines.join("\n");
    await stopped(child);
  }
  throw new Error(`Postgres did not start: ${problem}`);
}

type Readiness = { ready: true } | { ready: false; lines: string[] };

/** Reads the server's log, which is on stderr, for as long as it runs; answers when the first verdict is in. */
function ready(child: ChildProcess, log: Logger): Promise<Readiness> {
  const lines: string[] = [];
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => resolve({ ready: false, lines }), readyWithinMs);
    const decide = (answer: Readiness) => {
      clearTimeout(giveUp);
      child.unref();
      resolve(answer);
    };
    child.on("error", (error) => decide({ ready: false, lines: [error.message] }));
    if (!child.stderr) return;
    const reader = createInterface({ input: child.stderr });
    reader.on("line", (line) => {
      log.debug({ postgres: line }, "postgres");
      lines.splice(0, Math.max(0, lines.length - keptLogLines + 1));
      lines.push(line);
      if (line.includes("database system is ready to accept connections")) decide({ ready: true });
    });
    reader.on("close", () => decide({ ready: false, lines }));
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.ref();
  const exit = once(child, "exit");
  const force = setTimeout(() => child.kill("SIGKILL"), 5_000);
  child.kill(process.platform === "win32" ? "SIGKILL" : "SIGQUIT");
  await exit;
  clearTimeout(force);
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
