/** A program that runs beside others, in a process group of its own: started, stopped, and ended with all it started. */
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
  /** How long it may take to stop before its whole group is killed: longer than the limit that it has itself. */
  stopTimeoutMs: number;
  /** A line of its output, from either stream. */
  onLine(line: string, stream: "stdout" | "stderr"): void;
  /** It ended without being told to: `exit 1`, `SIGKILL`. */
  onExit(how: string): void;
}

const TSX = import.meta.resolve("tsx");

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

  /** Stops it and everything it started. Settles when it is gone. */
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

/** A group that is gone already needs no signal. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
