/** A program ends with those it works for: the readers of its output, and npm when that runs it. */
import { readFileSync } from "node:fs";

/** A pipe without a reader; a terminal that is gone. */
const GONE = new Set(["EPIPE", "EIO"]);
const NPM_CHECK_MS = 500;

/** Calls `end` once when nobody can read standard output or standard error any more; what is written then is dropped. */
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
 * Calls `end` once when npm, which runs this program, was killed: npm hands on every signal but SIGKILL. A parent's end
 * comes with no event, and no pipe connects npm to what it runs, so the parent is looked at now and then.
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

/** npm runs a script as `sh -c`, and some shells stay between it and the program. Only Linux shows it. */
function isShell(pid: number): boolean {
  return readProcess(pid, "cmdline")?.split("\0")[1] === "-c";
}

function parentOf(pid: number): number | undefined {
  // `pid (name) state parent …`; the name may hold anything.
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
