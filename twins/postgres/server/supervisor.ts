/** Keeps a server process running: restarts it when it ends by itself, a bounded number of times, with growing pauses. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";

const RESTART_PAUSES_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000];
/** After running for this long, a server has all its tries again. */
const STABLE_MS = 60_000;
const STOP_GRACE_MS = 5_000;

export interface SupervisorOptions {
  /** The running process. */
  child: ChildProcess;
  /** Starts the server on its data; resolves when it takes connections. @throws Error with what the server said */
  launch(signal: AbortSignal): Promise<ChildProcess>;
  log: Logger;
  /** Pauses before the tries. After the last failure the server stays down. */
  pausesMs?: readonly number[];
}

export class Supervisor {
  readonly #launch: SupervisorOptions["launch"];
  readonly #log: Logger;
  readonly #pausesMs: readonly number[];
  readonly #stopping = new AbortController();
  #child: ChildProcess;
  #outage: string | undefined;
  #restart: Promise<void> = Promise.resolve();
  #tries = 0;

  constructor({ child, launch, log, pausesMs = RESTART_PAUSES_MS }: SupervisorOptions) {
    this.#child = child;
    this.#launch = launch;
    this.#log = log;
    this.#pausesMs = pausesMs;
    this.#watch(child);
  }

  /** Why the server is down and what happens next; `undefined` while its process runs. */
  get outage(): string | undefined {
    return this.#outage;
  }

  /** Resolves when no restart is under way: the server runs, or was given up. */
  async settled(): Promise<void> {
    await this.#restart;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restart;
    await endProcess(this.#child);
  }

  #watch(child: ChildProcess): void {
    const startedAt = performance.now();
    const ended = () => {
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - startedAt > STABLE_MS) this.#tries = 0;
      this.#restart = this.#startAgain(`ended (${child.signalCode ?? `status ${child.exitCode}`})`);
    };
    if (hasEnded(child)) ended();
    else child.once("exit", ended);
  }

  async #startAgain(event: string): Promise<void> {
    const { signal } = this.#stopping;
    let problem = event;
    for (; this.#tries < this.#pausesMs.length; this.#tries++) {
      const count = `try ${this.#tries + 1} of ${this.#pausesMs.length}`;
      this.#outage = `the embedded Postgres server has ${event} and is being started again on its data (${count}); ask again in a moment`;
      this.#log.warn({ problem }, `the embedded Postgres server has ${event}; starting it again, ${count}`);
      try {
        await pause(this.#pausesMs[this.#tries], undefined, { signal, ref: false });
        this.#child = await this.#launch(signal);
      } catch (error) {
        if (signal.aborted) return;
        problem = error instanceof Error ? error.message : String(error);
        continue;
      }
      this.#tries++;
      this.#outage = undefined;
      this.#log.info("the embedded Postgres server runs again, with its data");
      this.#watch(this.#child);
      return;
    }
    this.#outage = `the embedded Postgres server has ${event} and did not start again in ${this.#pausesMs.length} tries; restart the twins`;
    this.#log.error({ problem }, this.#outage);
  }
}

/** Ends a server at once, without a checkpoint: its data is no longer needed, or is recovered from its log. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  const exit = once(child, "exit");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
  child.kill(process.platform === "win32" ? "SIGKILL" : "SIGQUIT");
  await exit;
  clearTimeout(force);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
