/**
 * The requests to a twin and its answers. Each tier has its own bounds of entries and bytes, so that polling the control
 * plane never evicts the traffic of the code under test. Secrets are masked before anything is stored.
 */
import { performance } from "node:perf_hooks";
import { type Clock, wallTime } from "../base/clock.ts";
import { Listeners } from "../base/listeners.ts";
import type { RequestSpans, SpanDescription } from "../telemetry/request-spans.ts";
import { type Headers, MASK, type Mask } from "./mask.ts";
import { Ring, type RingLimits } from "./ring.ts";

export type Tier = "vendor" | "control";

/** Stored part of a body; a longer one is truncated and marked as such. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Rough size of an entry without its texts. */
const ENTRY_BYTES = 400;

export interface JournalLimits {
  vendor: RingLimits;
  control: RingLimits;
  /** Requests to the control plane with a missing or wrong key. */
  refused: RingLimits;
}

export const defaultJournalLimits: JournalLimits = {
  vendor: { entries: 2000, bytes: 16 * 1024 * 1024 },
  control: { entries: 500, bytes: 4 * 1024 * 1024 },
  refused: { entries: 100, bytes: 256 * 1024 },
};

/** A stored body: its first `MAX_BODY_BYTES`, and its original length. */
export interface KeptBody {
  bytes: Buffer;
  originalBytes: number;
  truncated: boolean;
}

export interface JournalEntry {
  seq: number;
  tier: Tier;
  /** Operation id; `null` when the twin serves nothing there. */
  operation: string | null;
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: KeptBody;
  /** Milliseconds since the Unix epoch, of the machine and of the sandbox's clock. */
  wallTimeMs: number;
  simulatedTimeMs: number;
  /** Absent while the request is being answered. */
  answer?: {
    /** `null`: the connection ended without an answer. */
    status: number | null;
    headers: Record<string, string>;
    body: KeptBody;
    /** The twin's notes for the tester, as JSON. */
    notes?: KeptBody | undefined;
    durationMs: number;
    /** The armed fault that caused this answer. */
    fault?: string | undefined;
  };
  /** Estimated memory of the entry. */
  bytes: number;
}

export interface ArrivedRequestRecord {
  tier: Tier;
  operation: string | null;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: Buffer;
  /** Length of the whole body, when `body` is only its beginning. */
  streamedBytes?: number | undefined;
  /** `performance.now()` when the request came in. */
  startedAt: number;
  /** Both bodies are secret: neither is stored. */
  secretBody?: boolean | undefined;
  /** Describes the request's span; absent: it has none. */
  span?: (() => SpanDescription) | undefined;
}

interface AnswerRecord {
  /** `null`: the connection ended without an answer. */
  status: number | null;
  headers: Headers;
  /** The body, or of a streamed one its beginning. */
  body: Buffer;
  /** How long a streamed body was. */
  streamedBytes?: number | undefined;
  /** The twin's notes for the tester. */
  notes?: object | undefined;
  /** The armed fault that caused this answer. */
  fault?: string | undefined;
}

/** Writes the answer into an entry. */
export type CompleteEntry = (answer: AnswerRecord) => void;

export class Journal {
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #spans: RequestSpans | undefined;
  readonly #tiers: Record<Tier, Ring<JournalEntry>>;
  /** Separate from the rest of the control tier, so that callers without a key cannot evict the entries of those with one. */
  readonly #refused: Ring<JournalEntry>;
  readonly #listeners = new Listeners<JournalEntry>();
  #seq = 0;

  /** @param spans makes the spans of requests that continue a trace */
  constructor(mask: Mask, clock: Clock, given: Partial<JournalLimits> = {}, spans?: RequestSpans) {
    const limits = { ...defaultJournalLimits, ...given };
    this.#mask = mask;
    this.#clock = clock;
    this.#spans = spans;
    this.#tiers = { vendor: new Ring(limits.vendor), control: new Ring(limits.control) };
    this.#refused = new Ring(limits.refused);
  }

  /** Records a request that has arrived; the returned function completes it. */
  record(request: ArrivedRequestRecord): CompleteEntry {
    return this.#record(request, this.#tiers[request.tier]);
  }

  /**
   * Records a request to the control plane that is refused for its key. It may have been sent here by mistake, so only its
   * user agent and the names in its query are stored, and nothing of its body.
   */
  recordRefused(request: Omit<ArrivedRequestRecord, "tier" | "body" | "secretBody">): CompleteEntry {
    const { "user-agent": client, "x-api-key": key } = request.headers;
    const headers = { "user-agent": client, ...(key === undefined ? {} : { "x-api-key": MASK }) };
    const query = new URLSearchParams();
    for (const name of request.query.keys()) query.set(name, MASK);
    return this.#record({ ...request, headers, query, tier: "control", body: nothing }, this.#refused);
  }

  #record(request: ArrivedRequestRecord, ring: Ring<JournalEntry>): CompleteEntry {
    const headers = this.#mask.headers(request.headers);
    const keep = request.secretBody ? keepNothing : this.#keep.bind(this);
    const body = keep(request.body, headers["content-type"] ?? "", request.streamedBytes);
    const entry: JournalEntry = {
      seq: ++this.#seq,
      tier: request.tier,
      operation: request.operation,
      method: request.method,
      path: this.#mask.path(request.path),
      query: this.#mask.query(request.query),
      headers,
      body,
      wallTimeMs: wallTime(),
      simulatedTimeMs: this.#clock.now(),
      bytes: ENTRY_BYTES + request.path.length + lengthOf(headers) + body.bytes.length,
    };
    const number = ring.add(entry);
    const endSpan = this.#spans?.begin(request);
    return (answer) => {
      endSpan?.(answer);
      const answered = this.#mask.headers(answer.headers);
      const kept = keep(answer.body, answered["content-type"] ?? "", answer.streamedBytes);
      const durationMs = performance.now() - request.startedAt;
      const { status, fault } = answer;
      const notes = answer.notes && keep(Buffer.from(JSON.stringify(answer.notes)), "application/json");
      entry.answer = { status, headers: answered, body: kept, notes, durationMs, fault };
      ring.grow(number, kept.bytes.length + (notes?.bytes.length ?? 0) + lengthOf(answered));
      this.#listeners.tell(entry);
    };
  }

  /** Calls `listener` with each entry once it is answered, until the returned function is called. */
  watch(listener: (entry: JournalEntry) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Entries of both tiers in the order in which the requests arrived. */
  entries(): JournalEntry[] {
    const entries = this.#rings().flatMap((ring) => [...ring.entries()]);
    return entries.sort((a, b) => a.seq - b.seq);
  }

  /** The entry of this number; `undefined`: there never was one, or it was evicted. */
  find(seq: number): JournalEntry | undefined {
    for (const ring of this.#rings()) {
      for (const entry of ring.entries()) if (entry.seq === seq) return entry;
    }
    return undefined;
  }

  #rings(): Ring<JournalEntry>[] {
    return [this.#tiers.vendor, this.#tiers.control, this.#refused];
  }

  /** `seq` of the newest entry; 0 when there was none yet. */
  get newest(): number {
    return this.#seq;
  }

  /** How many entries of each tier were evicted. */
  dropped(): Record<Tier, number> {
    const { vendor, control } = this.#tiers;
    return { vendor: vendor.dropped, control: control.dropped + this.#refused.dropped };
  }

  #keep(body: Buffer, contentType: string, streamedBytes = body.length): KeptBody {
    const kept = keepBody(this.#mask, body, contentType);
    return {
      ...kept,
      originalBytes: streamedBytes,
      truncated: kept.truncated || streamedBytes > body.length,
    };
  }
}

/** A body as it may be stored: masked, then cut to `MAX_BODY_BYTES`. */
export function keepBody(mask: Pick<Mask, "body">, body: Buffer, contentType: string): KeptBody {
  const masked = mask.body(body, contentType, MAX_BODY_BYTES);
  // Copied, so that a small slice does not keep a large buffer alive.
  const bytes = masked.cut ? Buffer.from(masked.bytes) : masked.bytes;
  return { bytes, originalBytes: body.length, truncated: masked.cut };
}

const nothing = Buffer.alloc(0);
const withheld = Buffer.from(JSON.stringify(MASK));

/** Stores a mask in place of a body, so that only its presence and length are known. */
function keepNothing(body: Buffer): KeptBody {
  return { bytes: body.length > 0 ? withheld : body, originalBytes: body.length, truncated: false };
}

function lengthOf(headers: Record<string, string>): number {
  let length = 0;
  for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  return length;
}
