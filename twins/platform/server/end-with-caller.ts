/** Ends a program together with its callers: the readers of its output, and npm when that runs it. */
import { readFileSync } from "node:fs";

/** Errors of a pipe without a reader, and of a closed terminal. */
const GONE = new Set(["EPIPE", "EIO"]);
const NPM_CHECK_MS = 500;

/** Calls `end` once when standard output or standard error has no reader any more; later output is dropped. */
export function onReaderGone(end: () => void): void {
  const once = callOnce(end);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!GONE.has(error.code ?? "")) throw error;
      once();
    });
  }
}

/**
 * Calls `end` once when the npm that runs this program was killed: npm forwards every signal except SIGKILL. There is no
 * event for a parent's end, and no pipe from npm, so this polls the parent.
 */
export function onNpmGone(end: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const npm = isShell(parent) ? parentOf(parent) : undefined;
  const check = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || parentOf(parent) === npm)) return;
    clearInterval(check);
    end();
  }, NPM_CHECK_MS).unref();
}

/** Whether a process is a shell running `sh -c`, which some shells keep between npm and the program. Linux only. */
function isShell(pid: number): boolean {
  return readProcess(pid, "cmdline")?.split("\0")[1] === "-c";
}

function parentOf(pid: number): number | undefined {
  // `pid (name) state parent …`; the name may contain any character.
  const [, parent] = readProcess(pid, "stat")?.split(") ").at(-1)?.split(" ") ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function readProcess(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

function callOnce(work: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    work();
  };
}
