/** Ends a child when its parent is gone, however that went: a crash, SIGKILL, no memory. */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Waits on a pipe that the parent holds: its end without a line means that the parent died first. A shell rather than
 * Node: it takes 1 MB, and `killall -9 node` leaves it alone. `$1` is asked to end by the signal `$3`; `$2` is killed `$5`
 * tenths of a second later; then the folder `$4` is removed, if there is one: a process that was killed may write for a moment more.
 */
const SCRIPT = `
trap '' HUP INT TERM
read -r _ && exit
kill -"$3" "$1"
tries=0
while kill -0 "$1" && [ "$tries" -lt "$5" ]; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL -- "$2"
[ -n "$4" ] || exit
tries=0
until rm -rf -- "$4" || [ "$tries" -ge 20 ]; do sleep 0.1; tries=$((tries + 1)); done
`;

const DEFAULT_PATIENCE_MS = 8_000;

export interface Guarding {
  /** What must be gone in the end: the child alone, or the whole process group that it leads. */
  reach: "child" | "group";
  /** The signal that asks the child to end; `TERM` when absent. */
  signal?: "TERM" | "QUIT";
  /** How long the child may take to end by itself; 8 s when absent. */
  patienceMs?: number;
  /** A folder that is of no use without the parent: it is removed once the child has ended. */
  folder?: string;
}

/** To be called right after the child was started. Windows has no shell for it: there a child outlives a killed parent. */
export function guardChild(
  child: ChildProcess,
  { reach, signal = "TERM", patienceMs = DEFAULT_PATIENCE_MS, folder = "" }: Guarding,
): void {
  const { pid } = child;
  if (pid === undefined) return;
  const target = reach === "group" ? `-${pid}` : `${pid}`;
  const tenths = `${Math.ceil(patienceMs / 100)}`;
  const guard = spawn("/bin/sh", ["-c", SCRIPT, "offhook-guard", `${pid}`, target, signal, folder, tenths], {
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    env: { PATH: process.env.PATH },
    // A session of its own: the end of a terminal does not reach it.
    detached: true,
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  child.once("exit", () => guard.stdin.end("over\n"));
}
