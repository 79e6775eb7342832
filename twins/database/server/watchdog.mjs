/**
 * Cleans up after a Postgres server whose owner is gone, however it went: returned, crashed, or was killed.
 *
 * Run as `node watchdog.mjs <folder>` with a pipe on stdin that the owner keeps open. When the pipe closes, the
 * server whose data is in `<folder>/data` is stopped and the folder removed. Plain JavaScript, because it runs
 * without a loader.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const folder = process.argv[2];
const graceMs = 5_000;
const pollMs = 25;

/** @returns {number | undefined} the server's process id, from the first line of its lock file */
function serverPid() {
  try {
    const [line] = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n");
    return Number.parseInt(line, 10) || undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid @param {NodeJS.Signals | 0} signal @returns {boolean} whether the process was there */
function signalled(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function stopServer() {
  const pid = serverPid();
  if (pid === undefined) return;
  const deadline = performance.now() + graceMs;
  signalled(pid, process.platform === "win32" ? "SIGKILL" : "SIGQUIT");
  while (signalled(pid, 0)) {
    if (performance.now() > deadline) signalled(pid, "SIGKILL");
    await wait(pollMs);
  }
}

// The server may still be starting when its owner goes: its lock file can appear after a first look.
process.stdin.resume().on("close", async () => {
  for (let pass = 0; pass < 3; pass++) {
    await stopServer();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    await wait(200);
  }
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
