/**
 * The calls of this agent at the runtime, from the request that creates one until it is known to be over. A call costs
 * money while it is open at the runtime: every created call is ended, whatever happened to its caller, and one that cannot
 * be ended is logged as an error and counted.
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import { DeadlineExceeded, pause, withDeadline } from "../deadline.ts";
import { messageOf } from "../log.ts";
import type { AgentMetrics } from "../metrics.ts";
import { type CreatedCall, CreationUnknown, type RuntimeApi } from "./runtime-api.ts";
import { dialRuntime, type RuntimeSocket } from "./runtime-socket.ts";

/** About two minutes with their pauses; later, the runtime's own limits end the call. */
const MAX_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Pause between attempts while the agent stops. */
const HURRIED_PAUSE_MS = 500;
/** Maximum wait for the socket of a call without an id. */
const DIAL_TIMEOUT_MS = 5_000;
const HEARTBEAT_MS = 15_000;

/** Label of the metric `offhook_calls_not_ended_total`. */
type NotEnded =
  /** The runtime refused, or did not answer, time and again. */
  | "refused"
  /** The runtime may have created it, but its answer did not arrive or was unreadable. */
  | "unknown_id"
  /** The agent stopped first. */
  | "stopped";

export interface RuntimeCallsParts {
  api: RuntimeApi;
  metrics: AgentMetrics;
  /** Time limit of a call's creation; a late answer is awaited for the same time again. */
  createTimeoutMs: number;
  /** Learns which calls are open, so that another process can end them should this one be killed. */
  openCalls?: OpenCalls | undefined;
}

export interface OpenCalls {
  opened(runtimeCallId: string): void;
  over(runtimeCallId: string): void;
}

/** The callbacks from a call to `RuntimeCalls`. */
interface Ledger {
  over(call: RuntimeCall): void;
  end(call: RuntimeCall): void;
}

/** A call that was created. */
export class RuntimeCall {
  /** Absent when the runtime did not give one: then only the socket can end the call. */
  readonly id: string | undefined;
  /** Address of the call socket, a secret. Absent when the runtime gave none. */
  readonly websocketCallUrl: string | undefined;
  readonly log: Logger;
  /** Why the last attempt to end it failed. */
  failure: string | undefined;
  readonly #ledger: Ledger;
  #state: "open" | "ending" | "over" = "open";

  constructor(created: CreatedCall, log: Logger, ledger: Ledger) {
    this.id = created.id;
    this.websocketCallUrl = created.websocketCallUrl;
    this.log = log;
    this.#ledger = ledger;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Marks the call as over: the runtime said so, or acknowledged its end. */
  over(): void {
    if (this.isOver) return;
    this.#state = "over";
    this.#ledger.over(this);
  }

  /** Ends the call in the background, unless it is over. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#ledger.end(this);
  }
}

export class RuntimeCalls {
  readonly #parts: RuntimeCallsParts;
  /** Calls that are not over, and requests that may create one. */
  readonly #pending = new Set<RuntimeCall | Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #abandoned = new AbortController();
  #whenIdle: (() => void)[] = [];

  constructor(parts: RuntimeCallsParts) {
    this.#parts = parts;
    // Every call in creation or ending listens to these.
    setMaxListeners(0, this.#stopping.signal, this.#abandoned.signal);
  }

  /**
   * Creates a call. When the caller leaves or the time is up first, the answer is awaited in the background and its call
   * is ended.
   * @param signal the caller has left
   * @param headers to send along
   * @throws Error saying why there is no call, without secrets
   */
  async create(
    assistant: object,
    signal: AbortSignal,
    log: Logger,
    headers: Record<string, string> = {},
  ): Promise<RuntimeCall> {
    const { createTimeoutMs } = this.#parts;
    const abandon = new AbortController();
    const signals = { signal: abandon.signal, unsentSignal: signal };
    const creation = this.#create(assistant, signals, log, headers);
    try {
      return await withDeadline(signal, createTimeoutMs, () => creation);
    } catch (error) {
      void this.#endLate(creation, abandon);
      if (signal.aborted) throw new Error("the caller hung up before the call was created");
      if (!(error instanceof DeadlineExceeded)) throw error;
      throw new Error(`the voice runtime did not create the call within ${createTimeoutMs} ms`);
    }
  }

  /** Ends a call of another process, which was killed, in the background. */
  endOrphan(runtimeCallId: string, log: Logger): void {
    this.#open({ id: runtimeCallId, websocketCallUrl: undefined }, log).end();
  }

  /** Resolves as soon as no call is open, being created or being ended. */
  idle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Waits until no call is left, retrying with short pauses; gives up on the rest after the given time. */
  async drain(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => this.#giveUp(), timeoutMs);
    await this.idle();
    clearTimeout(timer);
  }

  #create(
    assistant: object,
    { signal, unsentSignal }: { signal: AbortSignal; unsentSignal: AbortSignal },
    log: Logger,
    headers: Record<string, string>,
  ): Promise<RuntimeCall> {
    const creation = this.#parts.api
      .create(assistant, signal, unsentSignal, headers)
      .then((created) => this.#open(created, log))
      .catch((error) => {
        if (error instanceof CreationUnknown) this.#reportUnknown(log, error.message);
        throw error;
      })
      .finally(() => this.#settle(creation));
    this.#pending.add(creation);
    return creation;
  }

  #open(created: CreatedCall, log: Logger): RuntimeCall {
    const { openCalls } = this.#parts;
    const { id } = created;
    const call = new RuntimeCall(created, log, {
      over: (one) => {
        if (id !== undefined) openCalls?.over(id);
        this.#settle(one);
      },
      end: (one) => void this.#end(one),
    });
    this.#pending.add(call);
    if (id !== undefined) openCalls?.opened(id);
    return call;
  }

  /** Awaits a creation whose caller has gone, and ends its call. */
  async #endLate(creation: Promise<RuntimeCall>, abandon: AbortController): Promise<void> {
    const given = this.#abandoned.signal;
    const giveUp = () => abandon.abort();
    const timer = setTimeout(giveUp, this.#parts.createTimeoutMs);
    given.addEventListener("abort", giveUp, { once: true });
    if (given.aborted) giveUp();
    try {
      (await creation).end();
    } catch {
      // There is no call, or #create has logged that there may be one.
    } finally {
      clearTimeout(timer);
      given.removeEventListener("abort", giveUp);
    }
  }

  async #end(call: RuntimeCall): Promise<void> {
    const given = this.#abandoned.signal;
    const mayTry = (attempt: number) =>
      !given.aborted && (attempt <= MAX_ATTEMPTS || this.#stopping.signal.aborted);
    for (let attempt = 1; mayTry(attempt); attempt += 1) {
      try {
        await this.#attempt(call);
        call.over();
        return;
      } catch (error) {
        call.failure = messageOf(error);
        const details = { runtimeCallId: call.id, attempt, reason: call.failure };
        call.log.debug(details, "the runtime did not end the call");
      }
      if (mayTry(attempt + 1)) await this.#pause(attempt);
    }
    if (call.isOver) return;
    this.#reportLost(call, given.aborted ? "stopped" : "refused");
  }

  /** @throws Error saying why the call may not have ended */
  async #attempt({ id, websocketCallUrl }: RuntimeCall): Promise<void> {
    if (id !== undefined) {
      // DELETE would remove the record of a call that has ended, so ask first; a stopping agent has no time for that.
      if (!this.#stopping.signal.aborted && (await this.#parts.api.hasEnded(id))) return;
      await this.#parts.api.end(id);
    } else if (websocketCallUrl !== undefined) {
      await endOverSocket(websocketCallUrl, this.#abandoned.signal);
    }
  }

  /** Exponential back-off with jitter, because many calls end at once when the runtime was down. */
  async #pause(attempt: number): Promise<void> {
    const isHurried = this.#stopping.signal.aborted;
    const maxMs = isHurried ? HURRIED_PAUSE_MS : Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
    const cut = isHurried ? this.#abandoned.signal : this.#stopping.signal;
    await pause((maxMs * (1 + Math.random())) / 2, cut);
  }

  #giveUp(): void {
    this.#abandoned.abort();
    for (const one of this.#pending) {
      if (one instanceof RuntimeCall) this.#reportLost(one, "stopped");
    }
  }

  #reportLost(call: RuntimeCall, reason: Exclude<NotEnded, "unknown_id">): void {
    this.#parts.metrics.notEnded.add(1, { reason });
    call.log.error(
      { runtimeCallId: call.id, reason: call.failure },
      "a call could not be ended: it may still be open at the runtime, and be billed; end it there by its id",
    );
    call.over();
  }

  #reportUnknown(log: Logger, reason: string): void {
    this.#parts.metrics.notEnded.add(1, { reason: "unknown_id" satisfies NotEnded });
    log.error(
      { reason },
      "a call may have been created, but its id did not arrive: it may still be open at the runtime, and be billed; look for it there",
    );
  }

  #settle(one: RuntimeCall | Promise<unknown>): void {
    this.#pending.delete(one);
    if (this.#pending.size > 0) return;
    for (const tell of this.#whenIdle.splice(0)) tell();
  }
}

/** @throws Error when the runtime does not acknowledge */
async function endOverSocket(url: string, signal: AbortSignal): Promise<void> {
  let open: RuntimeSocket | undefined;
  const handlers = {
    opened(socket: RuntimeSocket) {
      open = socket;
    },
    audio() {},
    text() {},
    gone() {},
  };
  await dialRuntime(url, handlers, { timeoutMs: DIAL_TIMEOUT_MS, heartbeatMs: HEARTBEAT_MS, signal });
  if (!(await open?.endCall())) throw new Error("the call socket closed before it acknowledged the end");
}
