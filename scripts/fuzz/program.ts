/** A program under test: a process of its own, whose descriptors and end can be watched. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { guardChild } from "@offhook/platform/base/child-guard";
import { PROJECT } from "../shared/folders.ts";

const TSX = import.meta.resolve("tsx");
/** A program may take so long to get ready on a busy machine. */
const START_TIMEOUT_MS = 120_000;
const PINO_ERROR = 50;

export interface Descriptors {
  sockets: number;
  others: number;
}

/** What a process holds of the machine's memory. */
export interface Memory {
  residentMb: number;
  /** The most that it has held. */
  peakMb: number;
}

export class Program {
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  /** Lines that it logged as errors. */
  readonly errors: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, "exit").then(([code]) => code);
  }

  /**
   * Starts a source file of the project and waits for a line.
   * @param ready answers what it was waiting for, from a line of either stream
   * @throws Error with the last lines when it ends or takes too long
   */
  static async start<T>(
    file: string,
    args: string[],
    options: { cwd: string; env: Record<string, string> },
    ready: (line: string) => T | undefined,
  ): Promise<{ program: Program; found: T }> {
    const child = spawn(process.execPath, ["--import", TSX, join(PROJECT, file), ...args], {
      cwd: options.cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    guardChild(child, { reach: "child" });
    const program = new Program(child);
    const last: string[] = [];
    const found = await new Promise<T>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${file} was not ready within ${START_TIMEOUT_MS} ms\n${last.join("\n")}`)),
        START_TIMEOUT_MS,
      );
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue;
        createInterface({ input: stream }).on("line", (line) => {
          last.push(line);
          if (last.length > 20) last.shift();
          if (levelOf(line) >= PINO_ERROR) program.errors.push(line);
          const what = ready(line);
          if (what === undefined) return;
          clearTimeout(timer);
          resolve(what);
        });
      }
      void program.#exit.then((code) => {
        clearTimeout(timer);
        reject(new Error(`${file} ended with ${code}\n${last.join("\n")}`));
      });
    }).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
    return { program, found };
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has open; `undefined` where the system does not show it. */
  descriptors(): Descriptors | undefined {
    const folder = `/proc/${this.#child.pid}/fd`;
    if (!existsSync(folder)) return undefined;
    const links = readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(join(folder, name))];
      } catch {
        // It was closed in the meantime.
        return [];
      }
    });
    const sockets = links.filter((link) => link.startsWith("socket:")).length;
    return { sockets, others: links.length - sockets };
  }

  /** `undefined` where the system does not show it. */
  memory(): Memory | undefined {
    const file = `/proc/${this.#child.pid}/status`;
    if (!existsSync(file)) return undefined;
    const status = readFileSync(file, "utf8");
    const megabytes = (name: string) => {
      const [, kilobytes] = new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(status) ?? [];
      return Math.round(Number(kilobytes ?? 0) / 1024);
    };
    return { residentMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
  }

  /** Sends SIGTERM. @returns how long it took to end; `undefined` when it had to be killed. */
  async terminate(limitMs: number): Promise<{ tookMs: number; code: number | null } | undefined> {
    const beganAt = performance.now();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), limitMs);
    const code = await this.#exit;
    clearTimeout(timer);
    if (this.#child.signalCode === "SIGKILL") return undefined;
    return { tookMs: performance.now() - beganAt, code };
  }
}

function levelOf(line: string): number {
  if (!line.startsWith("{")) return 0;
  try {
    const entry: unknown = JSON.parse(line);
    const level = typeof entry === "object" && entry !== null && "level" in entry ? entry.level : 0;
    return typeof level === "number" ? level : 0;
  } catch {
    return 0;
  }
}
