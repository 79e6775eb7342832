/** Processes of this machine, those that are nobody's children any more included. */
import { execFileSync } from "node:child_process";

/** A process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const all = list();
  const family = [pid];
  for (const member of family) {
    family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return family;
}

/** Those that still run; one that has ended and that nobody has asked about does not. */
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
