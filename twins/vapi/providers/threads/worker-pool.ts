/**
 * A pool of worker threads for work that would block the event loop. A task goes to the first free thread; a thread that
 * dies fails its task and is replaced on demand. An idle pool does not keep the process alive.
 */
import { Worker } from "node:worker_threads";
import type { WorkerAnswer, WorkerTask } from "./serve-tasks.ts";

export interface WorkerPoolOptions {
  /** The worker's file; it calls `serveTasks`. */
  file: URL;
  /** Maximum threads; started on demand. */
  threads: number;
  /** Maximum tasks that wait for a thread; further ones are refused. */
  maxWaiting: number;
  /** Available to the worker through `poolData`. */
  data?: unknown;
  /** Time limit of a task, including the start of its thread; after it the task fails and the thread is stopped. */
  maxTaskMs?: number;
}

const DEFAULT_MAX_TASK_MS = 30_000;

interface Task<Request, Result> {
  request: Request;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

export class WorkerPool<Request, Result> {
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread<Request, Result>>();
  readonly #waiting: Task<Request, Result>[] = [];
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Runs one task. Aborted in the queue, it never starts; aborted while running, it finishes and its result is discarded.
   * @throws the signal's reason when aborted; Error when the worker fails or dies, or when too many tasks wait
   */
  async run(request: Request, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    if (this.#closed) throw new Error("the worker threads are shut down");
    if (this.#waiting.length >= this.#options.maxWaiting) {
      throw new Error(`${this.#waiting.length} tasks wait for ${this.#options.threads} threads: too many`);
    }
    return new Promise<Result>((resolve, reject) => {
      const forget = (): void => signal.removeEventListener("abort", onAbort);
      const task: Task<Request, Result> = {
        request,
        resolve: (result) => {
          forget();
          resolve(result);
        },
        reject: (reason) => {
          forget();
          reject(reason);
        },
      };
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(task);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(task);
      this.#next();
    });
  }

  /** Starts all threads now, so that the first task finds one ready. */
  warm(): void {
    while (!this.#closed && this.#threads.size < this.#options.threads) this.#start();
  }

  /** Stops the threads; running and waiting tasks fail. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of this.#waiting.splice(0)) task.reject(new Error("the worker threads are shut down"));
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const task = this.#waiting.shift();
      if (task !== undefined) thread.run(task);
    }
  }

  #freeThread(): Thread<Request, Result> | undefined {
    for (const thread of this.#threads) if (thread.free) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : undefined;
  }

  #start(): Thread<Request, Result> {
    const thread = new Thread<Request, Result>(this.#options, {
      onFree: () => this.#next(),
      onDead: () => {
        this.#threads.delete(thread);
        if (!this.#closed) this.#next();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

interface ThreadEvents {
  onFree(): void;
  onDead(): void;
}

/** One worker and the task it runs. */
class Thread<Request, Result> {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  readonly #maxTaskMs: number;
  #task: Task<Request, Result> | undefined;
  #taskId = 0;
  #deadline: NodeJS.Timeout | undefined;
  #dead = false;

  constructor({ file, data, maxTaskMs = DEFAULT_MAX_TASK_MS }: WorkerPoolOptions, events: ThreadEvents) {
    this.#events = events;
    this.#maxTaskMs = maxTaskMs;
    this.#worker = new Worker(new URL("./start-worker.mjs", import.meta.url), {
      workerData: { file: file.href, data },
    });
    this.#worker.unref();
    this.#worker.on("message", (answer: WorkerAnswer<Result>) => this.#finish(answer));
    this.#worker.on("error", (error) => this.#die(error));
    this.#worker.on("exit", (code) => this.#die(new Error(`a worker thread ended with exit code ${code}`)));
  }

  get free(): boolean {
    return this.#task === undefined && !this.#dead;
  }

  run(task: Task<Request, Result>): void {
    this.#task = task;
    this.#worker.ref();
    this.#deadline = setTimeout(() => this.#giveUp(), this.#maxTaskMs).unref();
    const message: WorkerTask<Request> = { id: ++this.#taskId, request: task.request };
    this.#worker.postMessage(message);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #finish(answer: WorkerAnswer<Result>): void {
    const task = this.#task;
    if (task === undefined || answer.id !== this.#taskId) return;
    this.#task = undefined;
    clearTimeout(this.#deadline);
    this.#worker.unref();
    if ("error" in answer) task.reject(new Error(answer.error));
    else task.resolve(answer.result);
    this.#events.onFree();
  }

  #giveUp(): void {
    this.#die(new Error(`a worker thread took more than ${this.#maxTaskMs} ms for a task and was stopped`));
    void this.stop();
  }

  #die(reason: Error): void {
    if (this.#dead) return;
    this.#dead = true;
    clearTimeout(this.#deadline);
    this.#task?.reject(reason);
    this.#task = undefined;
    this.#events.onDead();
  }
}
