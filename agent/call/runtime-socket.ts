/** The call socket: audio both ways in binary frames, messages as JSON text. The runtime speaks as soon as it is open. */
import { WebSocket } from "ws";
import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import { messageOf, safeText } from "../log.ts";
import type { AudioSink } from "./audio-lane.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { USER_AGENT } from "./runtime-api.ts";
import { closeSocket } from "./socket-close.ts";

/** A conversation-update carries the whole conversation. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 2_000;

export interface RuntimeHandlers {
  /** The socket is open; called before anything that comes over it. */
  opened(socket: RuntimeSocket): void;
  audio(chunk: Buffer): void;
  text(text: string): void;
  /** The runtime closed the open socket. Called at most once. */
  gone(code: number, reason: string): void;
}

export interface DialOptions {
  timeoutMs: number;
  heartbeatMs: number;
  signal: AbortSignal;
}

export class RuntimeSocket implements AudioSink {
  readonly #socket: WebSocket;
  readonly #heartbeat: Heartbeat;
  #handlers: RuntimeHandlers | undefined;
  #opened = false;
  #failure = "";

  /** @param secrets texts to mask in every reason */
  constructor(socket: WebSocket, handlers: RuntimeHandlers, heartbeatMs: number, secrets: readonly string[]) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#heartbeat = startHeartbeat(socket, heartbeatMs, () => {
      this.#leave(1006, "nothing was heard of it, not even a pong");
      socket.terminate();
    });
    socket.on("message", (data, isBinary) => {
      this.#heartbeat.seen();
      if (!Buffer.isBuffer(data)) throw new TypeError("the socket must deliver whole Buffers");
      if (isBinary) this.#handlers?.audio(data);
      else this.#handlers?.text(data.toString());
    });
    socket.on("open", () => {
      this.#opened = true;
      this.#handlers?.opened(this);
    });
    socket.on("error", (error) => {
      this.#failure = safeText(messageOf(error), secrets);
    });
    socket.on("close", (code, reason) => {
      this.#heartbeat.stop();
      if (this.#opened) this.#leave(code, safeText(reason.toString(), secrets) || this.#failure);
    });
  }

  /** The last error of the socket; empty without one. */
  get failure(): string {
    return this.#failure;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(samples: Buffer, sent?: () => void): void {
    this.#socket.send(samples, sent);
  }

  /**
   * Ends the call at the runtime: without `end-call` it would continue, and be billed, until a timeout.
   * @returns whether the runtime acknowledged it: a close frame that answers ours proves that it has read `end-call`
   */
  async endCall(): Promise<boolean> {
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    if (isOpen) this.#socket.send('{"type":"end-call"}');
    const closeCode = await this.close();
    return isOpen && isOrderly(closeCode);
  }

  /** Closes the socket of a call that is over for the runtime too. @returns the close code when it is gone */
  async close(): Promise<number> {
    this.#handlers = undefined;
    const closeCode = await closeSocket(this.#socket, 1000, "", CLOSE_TIMEOUT_MS);
    this.#heartbeat.stop();
    return closeCode;
  }

  #leave(code: number, reason: string): void {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    handlers?.gone(code, reason);
  }
}

/** Whether a close code means an orderly close; 1005 stands for a close frame without a code. */
export function isOrderly(closeCode: number): boolean {
  return closeCode === 1000 || closeCode === 1005;
}

/**
 * Dials a call's socket and resolves when it is open. The handlers are attached before, so no audio is lost.
 * @throws Error saying why there is no connection, without the address
 */
export async function dialRuntime(
  url: string,
  handlers: RuntimeHandlers,
  options: DialOptions,
): Promise<void> {
  try {
    await withDeadline(options.signal, options.timeoutMs, (signal) => {
      const socket = new WebSocket(url, {
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
        headers: { "user-agent": USER_AGENT },
      });
      const runtime = new RuntimeSocket(socket, handlers, options.heartbeatMs, [url]);
      signal.addEventListener("abort", () => socket.terminate(), { once: true });
      return new Promise<void>((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("close", () => reject(new Error(runtime.failure || "it was closed")));
      });
    });
  } catch (error) {
    if (options.signal.aborted) throw new Error("the caller hung up before the call socket was open");
    if (error instanceof DeadlineExceeded) {
      throw new Error(`the call socket did not open within ${options.timeoutMs} ms`);
    }
    throw new Error(`the call socket did not open: ${safeText(messageOf(error), [url])}`);
  }
}
