/**
 * Whoever listens to a running call: gets its audio as 16-bit stereo PCM of 16 kHz, customer left and assistant right,
 * after a message that says so, and the call's messages as JSON text.
 * Source: https://docs.vapi.ai/calls/call-listen; the first message is that of the vendor's custom transcribers
 * (https://docs.vapi.ai/customization/custom-transcriber), whose members its listeners read.
 */
import { samplesToBytes } from "@offhook/audio/pcm";
import { createResampler, type Resampler } from "@offhook/audio/resample";
import type { Logger } from "pino";
import { WebSocket } from "ws";
import { type AudioSink, LANES } from "./call-audio.ts";

const LISTEN_RATE = 16_000;
const START = JSON.stringify({
  type: "start",
  encoding: "linear16",
  container: "raw",
  sampleRate: LISTEN_RATE,
  channels: LANES,
});
const MAX_LISTENERS = 16;
/** A minute of audio. A listener that leaves more unread is cut off. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** How long a listener has to answer the close. */
const CLOSE_TIMEOUT_MS = 2_000;

export class CallListeners implements AudioSink {
  readonly #sampleRate: number;
  readonly #log: Logger;
  readonly #sockets = new Set<WebSocket>();
  /** One for each side; made anew when somebody listens after a while in which nobody did. */
  #resamplers: Resampler[] = [];

  constructor(sampleRate: number, log: Logger) {
    this.#sampleRate = sampleRate;
    this.#log = log;
  }

  /** Whether as many listen as may. */
  get full(): boolean {
    return this.#sockets.size >= MAX_LISTENERS;
  }

  add(socket: WebSocket): void {
    if (this.#sockets.size === 0) {
      this.#resamplers = Array.from({ length: LANES }, () => createResampler(this.#sampleRate, LISTEN_RATE));
    }
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", (error) => this.#log.warn({ err: error }, "a listener's socket failed"));
    this.#send(socket, START);
  }

  take(stereo: Int16Array): void {
    if (this.#sockets.size === 0) return;
    const sides = this.#resamplers.map((resampler, side) =>
      resampler.push(stereo.filter((_, at) => at % LANES === side)),
    );
    this.#sendAudio(sides);
  }

  /** Passes on a message of the call. */
  message(message: object): void {
    if (this.#sockets.size === 0) return;
    const text = JSON.stringify(message);
    for (const socket of this.#sockets) this.#send(socket, text);
  }

  end(): void {
    this.#sendAudio(this.#resamplers.map((resampler) => resampler.flush()));
    for (const socket of this.#sockets) {
      const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      socket.once("close", () => clearTimeout(timer));
      socket.close(1000, "the call is over");
    }
  }

  #sendAudio(sides: readonly Int16Array[]): void {
    const length = sides[0]?.length ?? 0;
    if (length === 0) return;
    const bytes = samplesToBytes(
      Int16Array.from(
        { length: LANES * length },
        (_, at) => sides[at % LANES]?.[Math.floor(at / LANES)] ?? 0,
      ),
    );
    for (const socket of this.#sockets) this.#send(socket, bytes);
  }

  #send(socket: WebSocket, data: Buffer | string): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.send(data);
    else {
      this.#log.warn("a listener does not read what it is sent: cutting it off");
      socket.terminate();
    }
  }
}
