/** Processes of this machine, including orphans. */
import { execFileSync } from "node:child_process";

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

function list(): { pid: number; parent: number }[] {
  return execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state = ""]) => !state.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
