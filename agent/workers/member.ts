/** A worker process, as the primary sees it. */
import cluster, { type Worker } from "node:cluster";
import { z } from "zod";
import { Link, type LinkHandler } from "./link.ts";
import { WORKER_VARIABLE } from "./messages.ts";

const METRICS_TIMEOUT_MS = 2_000;

/** How a process ended. */
export interface Departure {
  code: number | null;
  signal: string | null;
}

export interface MemberParts {
  /** Its place among the workers, from 1 on. */
  slot: number;
  /** How many workers had the place, this one included. */
  generation: number;
  env: Record<string, string>;
  handlers(member: Member): Readonly<Record<string, LinkHandler>>;
  onError(member: Member, error: unknown): void;
}

/** Forks a worker. */
export class Member {
  readonly slot: number;
  /** `2.1` is the first worker in the second place. */
  readonly name: string;
  readonly link: Link;
  readonly startedAt = performance.now();
  /** `leaving`: it lets its calls finish and ends then; another one may have its place. */
  state: "starting" | "serving" | "leaving" | "gone" = "starting";
  /** Calls it has or is about to have. */
  calls = 0;
  /** The runtime's ids of its calls. */
  readonly runtimeCalls = new Set<string>();
  isDrained = false;
  /** Its metrics when it was last heard. */
  lastMetrics = "";
  /** Why the primary killed it. */
  killedFor: string | undefined;
  readonly departed: Promise<Departure>;
  readonly #worker: Worker;

  constructor({ slot, generation, env, handlers, onError }: MemberParts) {
    this.slot = slot;
    this.name = `${slot}.${generation}`;
    this.#worker = cluster.fork({ ...env, [WORKER_VARIABLE]: this.name });
    const worker = this.#worker;
    this.link = new Link({
      send(message, socket) {
        // It may be gone before the primary hears of it; then its questions fail with its departure.
        worker.send(message, socket, () => socket?.destroy());
      },
      handlers: handlers(this),
      onError: (error) => onError(this, error),
    });
    worker.on("message", (message, handle) => this.link.receive(message, handle));
    worker.on("error", (error) => onError(this, error));
    worker.on("disconnect", () => this.link.close(`worker ${this.name} is gone`));
    this.departed = new Promise((resolve) => {
      worker.on("exit", (code, signal) => {
        this.state = "gone";
        this.link.close(`worker ${this.name} is gone`);
        resolve({ code, signal });
      });
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Its metrics, or the last ones heard when it does not answer in time. */
  async metrics(timeoutMs = METRICS_TIMEOUT_MS): Promise<string> {
    await this.hear(timeoutMs).catch(() => {});
    return this.lastMetrics;
  }

  /** Asks for its metrics. @throws Error when it does not answer in time */
  async hear(timeoutMs: number): Promise<void> {
    this.lastMetrics = await this.link.ask("metrics", null, { answer: z.string(), timeoutMs });
  }

  /** Ends the process at once. */
  kill(reason: string): void {
    this.killedFor ??= reason;
    this.#worker.process.kill("SIGKILL");
  }
}
