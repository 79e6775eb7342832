/** State that outlives a request (scrolls, points in time, results) and expires by the sandbox's clock. */
import { randomBytes } from "node:crypto";
import type { Clock } from "@offhook/platform/base/clock";
import { VendorError } from "../vendor/error.ts";

interface Entry<Value> {
  value: Value;
  untilMs: number;
}

export interface KeepAliveLimits {
  /** The vendor's limit of open scrolls. */
  entries: number;
  /** The error message beyond the limit. */
  refusal: string;
}

/** The vendor's `search.max_keep_alive`. */
const MAX_KEEP_ALIVE_MS = 24 * 3_600_000;

export class KeepAliveMap<Value> {
  readonly #clock: Clock;
  readonly #limits: KeepAliveLimits;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(clock: Clock, limits: KeepAliveLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** @returns the id of the entry @throws VendorError 429 beyond the limit */
  add(value: Value, keepAliveMs: number): string {
    this.#deleteExpired();
    if (this.#entries.size >= this.#limits.entries) {
      throw new VendorError(429, {
        type: "too_many_scroll_contexts_exception",
        reason: this.#limits.refusal,
      });
    }
    const id = randomBytes(48).toString("base64url");
    this.#entries.set(id, { value, untilMs: this.#clock.now() + checkKeepAlive(keepAliveMs) });
    return id;
  }

  /** @param keepAliveMs extends the entry's life to this long from now */
  find(id: string, keepAliveMs?: number): Value | undefined {
    this.#deleteExpired();
    const entry = this.#entries.get(id);
    if (entry && keepAliveMs !== undefined) {
      entry.untilMs = Math.max(entry.untilMs, this.#clock.now() + checkKeepAlive(keepAliveMs));
    }
    return entry?.value;
  }

  /** @returns whether the entry existed */
  delete(id: string): boolean {
    return this.#entries.delete(id);
  }

  /** @returns how many entries there were */
  clear(): number {
    const { size } = this.#entries;
    this.#entries.clear();
    return size;
  }

  #deleteExpired(): void {
    const now = this.#clock.now();
    for (const [id, { untilMs }] of this.#entries) if (untilMs < now) this.#entries.delete(id);
  }
}

function checkKeepAlive(keepAliveMs: number): number {
  if (keepAliveMs <= MAX_KEEP_ALIVE_MS) return keepAliveMs;
  throw new VendorError(400, {
    type: "illegal_argument_exception",
    reason: `Keep alive for request (${keepAliveMs}ms) is too large. It must be less than (1d). This limit can be set by changing the [search.max_keep_alive] cluster level setting.`,
  });
}

/** 404 for an id that is unknown or expired. */
export function contextMissing(id: string): VendorError {
  const reason = {
    type: "search_context_missing_exception",
    reason: `No search context found for id [${id.slice(0, 16)}]`,
  };
  return new VendorError(
    404,
    {
      type: "search_phase_execution_exception",
      reason: "all shards failed",
      phase: "query",
      grouped: true,
      failed_shards: [{ shard: -1, index: null, reason }],
      caused_by: reason,
    },
    reason,
  );
}
