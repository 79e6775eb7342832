/** Ends a child process when its parent dies for any reason: a crash, SIGKILL, out of memory. */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Waits on a pipe that the parent holds open: end of file without a line means that the parent died first. It is a shell
 * because a shell takes 1 MB and survives `killall -9 node`. It sends the signal `$3` to `$1`, kills `$2` `$5` tenths of a
 * second later, and then removes the folder `$4`, if given, with retries: a killed process may still write for a moment.
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
  /** What to kill at last: the child alone, or the whole process group that it leads. */
  reach: "child" | "group";
  /** The signal that asks the child to end; `TERM` when absent. */
  signal?: "TERM" | "QUIT";
  /** How long the child may take to end by itself; 8 s when absent. */
  patienceMs?: number;
  /** A folder to remove once the child has ended. */
  folder?: string;
}

/** Guards a child; call it right after the spawn. On Windows, which has no `/bin/sh`, a child outlives a killed parent. */
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
    // In its own session, so that closing the terminal does not end it.
    detached: true,
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  child.once("exit", () => guard.stdin.end("over\n"));
}
