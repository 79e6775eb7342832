/** Runs a program in its own process group, and stops it together with everything it started. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { guardChild } from "@offhook/platform/base/child-guard";
import { PROJECT } from "../shared/folders.ts";

export interface PartOptions {
  name: string;
  /** Source file in the project, run through tsx. */
  file: string;
  args?: string[];
  /** Time to stop before its process group is killed; longer than the program's own limit. */
  stopTimeoutMs: number;
  /** A line of its output, from either stream. */
  onLine(line: string, stream: "stdout" | "stderr"): void;
  /** It ended without `stop`. @param how such as `exit 1` or `SIGKILL` */
  onExit(how: string): void;
}

const TSX = import.meta.resolve("tsx");

/** Delays of consecutive restarts; after the last one, only a file change restarts the part. */
const RESTART_DELAYS_MS = [250, 1_000, 2_000, 5_000, 10_000];
/** A part that served for this long started well, so its end counts as a first failure. */
const STEADY_MS = 60_000;

/** The back-off between restarts of a part that ended by itself. */
export class BackOff {
  #failures = 0;

  /**
   * @param servedMs how long the part served before it ended
   * @returns the delay of the next restart; `undefined`: do not restart
   */
  next(servedMs: number): number | undefined {
    if (servedMs >= STEADY_MS) this.reset();
    return RESTART_DELAYS_MS[this.#failures++];
  }

  /** Forgets the failures, after a change of the part's files. */
  reset(): void {
    this.#failures = 0;
  }
}

export class Part {
  readonly #options: PartOptions;
  #child: ChildProcess | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  start(env: Record<string, string | undefined>): void {
    const { file, args = [], onLine, onExit } = this.#options;
    const child = spawn(process.execPath, ["--import", TSX, join(PROJECT, file), ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    guardChild(child, { reach: "group", patienceMs: this.#options.stopTimeoutMs });
    this.#child = child;
    for (const stream of ["stdout", "stderr"] as const) {
      createInterface({ input: child[stream] }).on("line", (line) => onLine(line, stream));
    }
    child.once("exit", (code, signal) => {
      this.#child = undefined;
      signalGroup(child, "SIGKILL");
      if (this.#stopping === undefined) onExit(signal ?? `exit ${code}`);
    });
  }

  /** Stops it and everything it started; resolves when it has exited. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#end();
    await this.#stopping;
    this.#stopping = undefined;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = once(child, "exit");
    const forced = setTimeout(() => signalGroup(child, "SIGKILL"), this.#options.stopTimeoutMs);
    child.kill("SIGTERM");
    await gone;
    clearTimeout(forced);
  }
}

/** Signals the process group; ignores one that has exited. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
