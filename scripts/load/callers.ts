/** The callers of one process: keeps a number of calls up, and counts what they meet. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { placeCall } from "@offhook/caller/call";
import type { CallEvent, CallOptions, CallReport } from "@offhook/caller/call-report";
import type { Framing } from "@offhook/caller/line";
import { type Buckets, Histogram } from "./histogram.ts";

/** Whom to call, and what to say. */
export interface CallerOptions {
  url: string;
  framing: Framing;
  headers: Record<string, string>;
  /** What each caller does. */
  plan: CallOptions["plan"];
  /** How a good call is closed. */
  closeCode: number;
  /** Default: no traces. */
  traced?: CallOptions["traced"];
}

/** How many calls to keep up. */
export interface Level {
  calls: number;
  /** Maximum new calls a second, replacements included. */
  perSecond: number;
}

/** What the callers of a process met since they were last asked. */
export interface CallerWindow {
  /** Calls at the moment, those that are not answered yet included. */
  active: number;
  /** Calls at the moment that were answered. */
  connected: number;
  placed: number;
  answered: number;
  ended: number;
  /** Failed calls by reason. */
  failures: Record<string, number>;
  setupMs: Buckets;
  responseMs: Buckets;
  /** Lateness of the callee's speech. */
  heardLateMs: Buckets;
  /** Lateness of the load's own frames. */
  sentLateMs: Buckets;
  /** Event-loop delay since the level was last set. */
  loopDelayP99Ms: number;
}

const LOOP_RESOLUTION_MS = 10;
/** Calls that may be placed at once after a pause of the event loop. */
const MAX_BURST = 5;
/** Further reasons are counted together. */
const MAX_REASONS = 20;
const OTHER_REASONS = "other reasons";
/** Time in which calls that hang up are over: the line allows two seconds for the close. */
const HANG_UP_MS = 5_000;

export class Callers {
  readonly #options: CallerOptions;
  readonly #calls = new Set<{ hangUp: AbortController; answered: boolean; over: Promise<void> }>();
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #level: Level = { calls: 0, perSecond: 1 };
  #nextCallAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #window = new Tally();

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#loop.enable();
  }

  /** Keeps so many calls up from now on: places new ones, or hangs up the oldest. */
  setLevel(level: Level): void {
    this.#level = level;
    this.#nextCallAt = Math.max(this.#nextCallAt, performance.now());
    this.#loop.reset();
    const surplus = [...this.#calls].slice(0, Math.max(0, this.#calls.size - level.calls));
    for (const { hangUp } of surplus) hangUp.abort();
    this.#placeDueCalls();
  }

  /** What happened since this was last called. */
  take(): CallerWindow {
    const tally = this.#window;
    this.#window = new Tally();
    return {
      active: this.#calls.size,
      connected: [...this.#calls].filter(({ answered }) => answered).length,
      placed: tally.placed,
      answered: tally.answered,
      ended: tally.ended,
      failures: Object.fromEntries(tally.failures),
      setupMs: tally.setupMs.buckets(),
      responseMs: tally.responseMs.buckets(),
      heardLateMs: tally.heardLateMs.buckets(),
      sentLateMs: tally.sentLateMs.buckets(),
      loopDelayP99Ms: this.#loopDelayP99Ms,
    };
  }

  /** Hangs up all calls; resolves when they are over. */
  async finish(): Promise<void> {
    this.setLevel({ calls: 0, perSecond: 1 });
    clearTimeout(this.#timer);
    let giveUp: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, HANG_UP_MS);
    });
    await Promise.race([Promise.all([...this.#calls].map(({ over }) => over)), timeout]);
    clearTimeout(giveUp);
    this.#loop.disable();
  }

  /** The histogram holds the intervals of its timer, the resolution included. Without a tick so far it has no value. */
  get #loopDelayP99Ms(): number {
    const intervalMs = this.#loop.percentile(99) / 1_000_000;
    return this.#loop.count === 0 ? 0 : Math.max(0, intervalMs - LOOP_RESOLUTION_MS);
  }

  #placeDueCalls(): void {
    clearTimeout(this.#timer);
    const { calls, perSecond } = this.#level;
    const apartMs = 1000 / perSecond;
    const now = performance.now();
    this.#nextCallAt = Math.max(this.#nextCallAt, now - MAX_BURST * apartMs);
    while (this.#calls.size < calls && this.#nextCallAt <= now) {
      this.#nextCallAt += apartMs;
      this.#place();
    }
    if (this.#calls.size >= calls) return; // The next call that ends continues.
    this.#timer = setTimeout(() => this.#placeDueCalls(), Math.max(1, this.#nextCallAt - performance.now()));
  }

  #place(): void {
    const { url, framing, headers, plan, closeCode, traced } = this.#options;
    const hangUp = new AbortController();
    const call = { hangUp, answered: false, over: Promise.resolve() };
    const onEvent = (event: CallEvent) => {
      if (event.type === "answered") {
        call.answered = true;
        this.#window.answered += 1;
        this.#window.setupMs.add(event.setupMs);
      }
      if (event.type === "callee-speaks" && event.responseMs !== null) {
        this.#window.responseMs.add(event.responseMs);
      }
    };
    this.#window.placed += 1;
    this.#calls.add(call);
    call.over = placeCall({
      url,
      framing,
      headers,
      plan,
      ...(traced === undefined ? {} : { traced }),
      signal: hangUp.signal,
      onEvent,
      frames: {
        onSent: (latenessMs) => this.#window.sentLateMs.add(latenessMs),
        onHeard: (latenessMs) => this.#window.heardLateMs.add(latenessMs),
      },
    }).then((report) => {
      this.#calls.delete(call);
      this.#window.ended += 1;
      const failure = hangUp.signal.aborted ? undefined : failureOf(report, closeCode);
      if (failure !== undefined) this.#window.fail(failure);
      this.#placeDueCalls();
    });
  }
}

class Tally {
  placed = 0;
  answered = 0;
  ended = 0;
  readonly failures = new Map<string, number>();
  readonly setupMs = new Histogram();
  readonly responseMs = new Histogram();
  readonly heardLateMs = new Histogram();
  readonly sentLateMs = new Histogram();

  fail(reason: string): void {
    const known = this.failures.has(reason) || this.failures.size < MAX_REASONS;
    const key = known ? reason : OTHER_REASONS;
    this.failures.set(key, (this.failures.get(key) ?? 0) + 1);
  }
}

/** Why a call failed, in words that many calls share; `undefined` for a good one. */
function failureOf(report: CallReport, goodCode: number): string | undefined {
  const { outcome, endedBy, closeCode, reason, undone } = report;
  if (outcome === "callee_no_answer" && closeCode === undefined) return `refused: ${refusalIn(reason)}`;
  const code = closeCode === undefined ? "" : `, close code ${closeCode}`;
  if (outcome !== "completed") return `${outcome}${code}`;
  if (closeCode !== goodCode) return `ended by the ${endedBy}${code}`;
  return undone.length > 0 ? "over before the caller had said everything" : undefined;
}

/** The HTTP status or the system's error code in a reason; addresses in it would make each reason a new one. */
function refusalIn(reason: string): string {
  return /HTTP \d{3}/.exec(reason)?.[0] ?? /\bE[A-Z]{3,}\b/.exec(reason)?.[0] ?? "no WebSocket";
}
