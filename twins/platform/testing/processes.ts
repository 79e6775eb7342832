/** Processes of this machine, including orphans. */
import { execFileSync } from "node:child_process";
import { basename } from "node:path";

/** A process and its descendants. */
export function familyOf(pid: number): number[] {
  const all = list();
  const family = [pid];
  for (const member of family) {
    family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return family;
}

/** The processes that still run; zombies do not count. */
export function survivorsOf(pids: readonly number[]): number[] {
  const running = new Set(list().map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** The programs that processes run, by name. A process may call itself otherwise: Node 24 is `MainThread`. */
export function programsOf(pids: readonly number[]): string[] {
  return linesOfPs("-o", "args=", "-p", pids.join(",")).map((line) => basename(line.split(" ", 1)[0] ?? ""));
}

function list(): { pid: number; parent: number }[] {
  return linesOfPs("-A", "-o", "pid=,ppid=,stat=")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state = ""]) => !state.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

function linesOfPs(...options: string[]): string[] {
  return execFileSync("ps", options, { encoding: "utf8" }).trim().split("\n");
}
