/** Server-Sent Events: streams with a bounded backlog, and a bounded number of them. */
import { Readable } from "node:stream";
import { errorResponse } from "./errors.ts";
import type { VendorResponse } from "./operation.ts";

/** Backlog limit of a slow reader; beyond it the stream ends with an `overflow` event. */
const QUEUE_BYTES = 1024 * 1024;
/** Interval of comments that keep proxies from cutting an idle stream and detect that the reader has left. */
const COMMENT_MS = 15_000;
/** Streams of one twin or one sandbox at a time. */
export const MAX_STREAMS = 64;

/** The open streams of one twin or one sandbox. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #ofWhat: string;

  /** @param ofWhat is watched, for refusals: `a twin` */
  constructor(ofWhat: string) {
    this.#ofWhat = ofWhat;
  }

  /**
   * Answers a request with a stream, or with 429 when as many are open as there may be.
   * @param readAgain what a reader that lagged behind reads, since it missed events
   * @param begin sends the first events and subscribes; returns what ends the subscription
   */
  answer(readAgain: string, begin: (stream: EventStream) => () => void): VendorResponse {
    if (this.#open.size >= MAX_STREAMS) {
      const message = `${this.#ofWhat} is watched by at most ${MAX_STREAMS} at a time`;
      return errorResponse(429, "too_many_watchers", message);
    }
    const stream = new EventStream(readAgain);
    this.#open.add(stream);
    stream.body.once("close", () => this.#open.delete(stream));
    stream.onEnd(begin(stream));
    return {
      status: 200,
      headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
      body: stream.body,
    };
  }

  /** Cuts every stream. */
  end(): void {
    for (const stream of [...this.#open]) stream.body.destroy();
  }
}

export class EventStream {
  readonly body = new Readable({ read() {}, highWaterMark: QUEUE_BYTES });
  readonly #readAgain: string;
  #ended = false;
  #release: () => void = () => undefined;

  constructor(readAgain: string) {
    this.#readAgain = readAgain;
    const comments = setInterval(() => this.body.push(":\n\n"), COMMENT_MS);
    comments.unref();
    this.#release = () => clearInterval(comments);
    this.body.once("close", () => this.#end());
  }

  /** Calls `release` once, when the stream ends or its reader leaves. */
  onEnd(release: () => void): void {
    const before = this.#release;
    this.#release = () => {
      before();
      release();
    };
    if (this.#ended) release();
  }

  /** Sends an event. When the reader lags behind too far, ends the stream instead. */
  send(name: string, data: object): void {
    if (this.#ended || this.body.push(encodeEvent(name, data))) return;
    const rule = `a watcher may lag behind by ${QUEUE_BYTES} bytes; read again from ${this.#readAgain}`;
    this.body.push(encodeEvent("overflow", { rule }));
    this.body.push(null);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
  }
}

function encodeEvent(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
