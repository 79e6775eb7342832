/** Runs a command of the project as people do: a process of its own, in a folder without any settings. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Watched } from "@offhook/platform/testing/watched";
import { DATASETS_FOLDER } from "../../scripts/shared/folders.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const TSX = import.meta.resolve("tsx");

/** A folder without settings for programs to run in. Its datasets are the project's, which were made already. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "offhook-command-"));
  mkdirSync(join(folder, ".offhook"));
  mkdirSync(DATASETS_FOLDER, { recursive: true, mode: 0o700 });
  symlinkSync(DATASETS_FOLDER, join(folder, ".offhook", "datasets"));
  return folder;
}

export interface Finished {
  /** `null`: killed by a signal. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export class Command {
  /** The folder that it runs in. */
  readonly folder: string;
  readonly #child;
  readonly #watched = new Watched();
  readonly #gone: Promise<number | null>;
  #stdout = "";
  #stderr = "";

  /**
   * @param file in `scripts/`, or a path of its own
   * @param env what the command finds in its environment besides the way to programs
   * @param input what it reads on standard input; nothing is there when absent
   * @param folder another command's; default: one of its own, without any settings
   */
  constructor(
    file: string,
    args: string[],
    env: Record<string, string> = {},
    input?: string,
    folder?: string,
  ) {
    this.folder = folder ?? makeFolder();
    this.#child = spawn(process.execPath, ["--import", TSX, resolve(PROJECT, "scripts", file), ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    // A command that does not read is not told that nobody listens to it.
    this.#child.stdin.on("error", () => undefined);
    this.#child.stdin.end(input);
    this.#child.stdout.on("data", (chunk: Buffer) => {
      this.#stdout += chunk.toString();
      this.#watched.changed();
    });
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString();
      this.#watched.changed();
    });
    this.#gone = once(this.#child, "close").then(([code]) => code);
    void this.#gone.then(() => {
      if (folder === undefined) rmSync(this.folder, { recursive: true, force: true });
      this.#watched.changed();
    });
  }

  /** Waits for a text on standard output; answers all that came so far. */
  async output(pattern: RegExp): Promise<string> {
    await this.#watched.until(() => pattern.test(this.#stdout), `output like ${pattern}`);
    return this.#stdout;
  }

  /** What came on standard error so far. */
  get errors(): string {
    return this.#stderr;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the command could not be started");
    return this.#child.pid;
  }

  /** Nobody reads its output any more, as after `| head`. */
  closeOutput(): void {
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  interrupt(signal: NodeJS.Signals = "SIGINT"): void {
    this.#child.kill(signal);
  }

  async finished(): Promise<Finished> {
    return { exitCode: await this.#gone, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Whether a process of the command's group is alive. */
  get leftSomethingRunning(): boolean {
    if (this.#child.pid === undefined) return false;
    try {
      process.kill(-this.#child.pid, 0);
      return true;
    } catch {
      return false;
    }
  }
}

/** Runs a command to its end. */
export function run(file: string, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return new Command(file, args, env).finished();
}
