/**
 * The calls this agent has at the runtime, each from the request that creates it until it is known to be over. A call
 * costs money for as long as the runtime has it: one that was created is ended, whatever became of its caller, and one
 * that cannot be ended is an error line and a count.
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import { messageOf } from "../log.ts";
import type { AgentMetrics } from "../metrics.ts";
import { type CreatedCall, CreationUnknown, type RuntimeApi } from "./runtime-api.ts";
import { dialRuntime, type RuntimeSocket } from "./runtime-socket.ts";

/** With the pauses between them about two minutes; the runtime's own limits end the call some time later. */
const MAX_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Pause between attempts once the agent stops. */
const HURRIED_PAUSE_MS = 500;
/** Longest wait for the socket of a call without an id. */
const DIAL_TIMEOUT_MS = 5_000;
const HEARTBEAT_MS = 15_000;

/** Label of the metric `offhook_calls_not_ended_total`. */
type NotEnded =
  /** The runtime refused, or did not answer, time and again. */
  | "refused"
  /** The runtime may have created it, and its answer did not come or could not be read. */
  | "unknown_id"
  /** The agent stopped first. */
  | "stopped";

export interface RuntimeCallsParts {
  api: RuntimeApi;
  metrics: AgentMetrics;
  /** How long a caller waits for a call to be created; its answer is waited for as long again. */
  createTimeoutMs: number;
}

/** What a call tells those who keep account of it. */
interface Ledger {
  over(call: RuntimeCall): void;
  end(call: RuntimeCall): void;
}

/** A call that was created. */
export class RuntimeCall {
  /** Absent when the runtime did not give one: then only the socket can end the call. */
  readonly id: string | undefined;
  /** Where the call is, a secret. Absent when the runtime did not say. */
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

  /** The runtime says that the call is over, or has acknowledged its end. */
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
  readonly #unsettled = new Set<RuntimeCall | Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #givenUp = new AbortController();
  #whenIdle: (() => void)[] = [];

  constructor(parts: RuntimeCallsParts) {
    this.#parts = parts;
    // Each call that is being created or ended listens to them.
    setMaxListeners(0, this.#stopping.signal, this.#givenUp.signal);
  }

  /**
   * Creates a call. When the caller leaves or the time is up before there is an answer, the answer is waited for in the
   * background, and the call it tells of is ended.
   * @param signal the caller has left
   * @throws Error saying why there is no call, without secrets
   */
  async create(assistant: object, signal: AbortSignal, log: Logger): Promise<RuntimeCall> {
    const { createTimeoutMs } = this.#parts;
    const abandon = new AbortController();
    const creation = this.#create(assistant, { signal: abandon.signal, unsentSignal: signal }, log);
    try {
      return await withDeadline(signal, createTimeoutMs, () => creation);
    } catch (error) {
      void this.#endLate(creation, abandon);
      if (signal.aborted) throw new Error("the caller hung up before the call was created");
      if (!(error instanceof DeadlineExceeded)) throw error;
      throw new Error(`the voice runtime did not create the call within ${createTimeoutMs} ms`);
    }
  }

  /** Resolves as soon as no call is open, being created or being ended. */
  idle(): Promise<void> {
    if (this.#unsettled.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Waits until no call is left, retries without long pauses, and gives up on what is left after the given time. */
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
  ): Promise<RuntimeCall> {
    const creation = this.#parts.api
      .create(assistant, signal, unsentSignal)
      .then((created) => {
        const call = new RuntimeCall(created, log, {
          over: (one) => this.#settle(one),
          end: (one) => void this.#end(one),
        });
        this.#unsettled.add(call);
        return call;
      })
      .catch((error) => {
        if (error instanceof CreationUnknown) this.#loseUnknown(log, error.message);
        throw error;
      })
      .finally(() => this.#settle(creation));
    this.#unsettled.add(creation);
    return creation;
  }

  /** Waits for the answer to a creation whose caller has gone, and ends the call it tells of. */
  async #endLate(creation: Promise<RuntimeCall>, abandon: AbortController): Promise<void> {
    const given = this.#givenUp.signal;
    const giveUp = () => abandon.abort();
    const timer = setTimeout(giveUp, this.#parts.createTimeoutMs);
    given.addEventListener("abort", giveUp, { once: true });
    if (given.aborted) giveUp();
    try {
      (await creation).end();
    } catch {
      // There is no call, or #create has said that there may be one.
    } finally {
      clearTimeout(timer);
      given.removeEventListener("abort", giveUp);
    }
  }

  async #end(call: RuntimeCall): Promise<void> {
    const given = this.#givenUp.signal;
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
    this.#lose(call, given.aborted ? "stopped" : "refused");
  }

  /** @throws Error saying why the call may not have ended */
  async #attempt({ id, websocketCallUrl }: RuntimeCall): Promise<void> {
    if (id !== undefined) {
      // Of a call that has ended already DELETE removes the record. There is no time to ask once the agent stops.
      if (!this.#stopping.signal.aborted && (await this.#parts.api.hasEnded(id))) return;
      await this.#parts.api.end(id);
    } else if (websocketCallUrl !== undefined) {
      await endOverSocket(websocketCallUrl, this.#givenUp.signal);
    }
  }

  /** Exponential back-off with jitter: when the runtime is down, many calls are to be ended at the same time. */
  async #pause(attempt: number): Promise<void> {
    const isHurried = this.#stopping.signal.aborted;
    const maxMs = isHurried ? HURRIED_PAUSE_MS : Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
    const cut = isHurried ? this.#givenUp.signal : this.#stopping.signal;
    await pause((maxMs * (1 + Math.random())) / 2, cut);
  }

  #giveUp(): void {
    this.#givenUp.abort();
    for (const one of this.#unsettled) {
      if (one instanceof RuntimeCall) this.#lose(one, "stopped");
    }
  }

  #lose(call: RuntimeCall, reason: Exclude<NotEnded, "unknown_id">): void {
    this.#parts.metrics.notEnded.add(1, { reason });
    call.log.error(
      { runtimeCallId: call.id, reason: call.failure },
      "a call could not be ended: it may go on at the runtime, and be billed; end it there by its id",
    );
    call.over();
  }

  #loseUnknown(log: Logger, reason: string): void {
    this.#parts.metrics.notEnded.add(1, { reason: "unknown_id" satisfies NotEnded });
    log.error(
      { reason },
      "a call may have been created and its id did not come: it may go on at the runtime, and be billed; look for it there",
    );
  }

  #settle(one: RuntimeCall | Promise<unknown>): void {
    this.#unsettled.delete(one);
    if (this.#unsettled.size > 0) return;
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

/** Resolves after the time, or when the signal is aborted. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
