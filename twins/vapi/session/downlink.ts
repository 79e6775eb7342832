/**
 * What the client receives: audio in bursts, interleaved with messages in the order in which they happened. A burst
 * goes out every 50 ms of media time, cut into frames of varying size, as the vendor does.
 */

import { concatSamples } from "@offhook/audio/pcm";
import type { Logger } from "pino";
import { WebSocket } from "ws";
import type { AudioFormat } from "../schema/call.ts";
import { DownlinkEncoder } from "./codec.ts";
import type { AudioTap } from "./contract.ts";
import type { RuntimeMessage } from "./messages.ts";

export const BURST_MS = 50;
/** Lengths of the frames of a burst, used in rotation; the rest of a burst is a frame too. */
const FRAME_LENGTHS_MS = [20, 10, 25, 15, 30];
/** Back-pressure: with this much unread the client gets no more audio, and after `MAX_CONGESTION_MS` is cut off. */
const MAX_UNREAD_AUDIO_MS = 30_000;
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
const MAX_CONGESTION_MS = 10_000;
/** How long a client has to answer the close. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface DownlinkOptions {
  socket: WebSocket;
  format: AudioFormat;
  /** Message types that reach the client. */
  clientMessages: readonly string[];
  /** Whether some frames end in the middle of a sample, as some of the vendor's do. */
  oddFrames: boolean;
  /** Takes the audio that is sent. */
  audio: AudioTap | undefined;
  log: Logger;
}

export class Downlink {
  readonly #socket: WebSocket;
  readonly #log: Logger;
  readonly #encoder: DownlinkEncoder;
  readonly #clientMessages: ReadonlySet<string>;
  readonly #oddFrames: boolean;
  readonly #bytesPerMs: number;
  readonly #maxUnreadBytes: number;
  readonly #audio: AudioTap | undefined;
  /** Audio not yet sent, at the internal rate. */
  #burst: Int16Array[] = [];
  /** When the last of it was played, in media time. */
  #playedMs = 0;
  #nextLength = 0;
  #congestedSince: number | undefined;
  #droppedBytes = 0;

  constructor({ socket, format, clientMessages, oddFrames, audio, log }: DownlinkOptions) {
    this.#socket = socket;
    this.#audio = audio;
    this.#log = log;
    this.#encoder = new DownlinkEncoder(format);
    this.#clientMessages = new Set(clientMessages);
    this.#oddFrames = oddFrames;
    this.#bytesPerMs = (format.sampleRate * (format.format === "mulaw" ? 1 : 2)) / 1000;
    this.#maxUnreadBytes = Math.min(MAX_UNREAD_BYTES, this.#bytesPerMs * MAX_UNREAD_AUDIO_MS);
  }

  /** Takes the 10 ms of the assistant's voice that end at `nowMs`. */
  voice(frame: Int16Array, nowMs: number): void {
    this.#burst.push(frame);
    this.#playedMs = nowMs;
  }

  /** Sends a burst when one is due at `nowMs`. */
  tick(nowMs: number): void {
    if (this.#burst.length > 0 && nowMs % BURST_MS === 0) this.#flush();
  }

  /** Sends everything that is left after the assistant's last sample. */
  endOfSpeech(): void {
    this.#flush();
    this.#sendAudio(this.#encoder.flush());
  }

  /** Discards unsent audio: the assistant was cut short. */
  dropSpeech(): void {
    this.#burst = [];
    this.#encoder.flush();
  }

  /** Sends a message after all earlier audio, if the client asked for its type. */
  message(message: RuntimeMessage): void {
    if (!this.#clientMessages.has(message.type)) return;
    this.#flush();
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    if (this.#droppedBytes > 0) {
      this.#log.warn(
        { droppedBytes: this.#droppedBytes },
        "audio was dropped: the client did not read it in time",
      );
    }
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once("close", () => clearTimeout(timer));
    this.#socket.close(code, reason);
  }

  #flush(): void {
    if (this.#burst.length === 0) return;
    const burst = concatSamples(...this.#burst);
    this.#burst = [];
    this.#sendAudio(this.#encoder.encode(burst));
  }

  #sendAudio(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#isCongested()) {
      this.#droppedBytes += bytes.length;
      return;
    }
    this.#audio?.play(this.#encoder.samplesOf(bytes), this.#playedMs - this.#encoder.heldMs);
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + this.#frameBytes());
      this.#socket.send(bytes.subarray(at, end));
      at = end;
    }
  }

  #frameBytes(): number {
    const lengthMs = FRAME_LENGTHS_MS[this.#nextLength++ % FRAME_LENGTHS_MS.length] ?? BURST_MS;
    const evenBytes = Math.max(2, 2 * Math.round((lengthMs * this.#bytesPerMs) / 2));
    return this.#oddFrames && this.#nextLength % 3 === 0 ? evenBytes + 1 : evenBytes;
  }

  #isCongested(): boolean {
    if (this.#socket.bufferedAmount <= this.#maxUnreadBytes) {
      this.#congestedSince = undefined;
      return false;
    }
    this.#congestedSince ??= performance.now();
    if (this.#droppedBytes === 0) this.#log.warn("the client does not read its audio: dropping it");
    if (performance.now() - this.#congestedSince > MAX_CONGESTION_MS) {
      this.#log.warn("the client has not read for too long: cutting it off");
      this.#socket.terminate();
    }
    return true;
  }
}
