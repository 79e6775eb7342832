/** A callee for the caller's own rules: a WebSocket server whose behaviour is written in the test. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { CALLER_RATE, FRAME_MS, msToSamples, samplesToBytes, samplesToMs, silence } from "@offhook/audio/pcm";
import { type WebSocket, WebSocketServer } from "ws";

/** Silence an agent owes after each turn. */
const TRAILING_SILENCE_MS = 1_700;
const FRAME_SAMPLES = msToSamples(FRAME_MS, CALLER_RATE);

export class ScriptedLine {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Every message that came, in order. */
  readonly messages: { data: Buffer; binary: boolean }[] = [];
  #receivedBytes = 0;
  #sentSamples = 0;
  #waiting: { bytes: number; resolve: () => void }[] = [];
  readonly closed: Promise<number>;

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.request = request;
    this.closed = once(socket, "close").then(([code]) => Number(code));
    socket.on("message", (data: Buffer, binary) => {
      this.messages.push({ data, binary });
      this.#receivedBytes += data.byteLength;
      this.#waiting = this.#waiting.filter(({ bytes, resolve }) => {
        if (this.#receivedBytes < bytes) return true;
        resolve();
        return false;
      });
    });
  }

  /** Settles when the caller has sent this much more audio (binary framing). */
  afterCallerAudio(ms: number): Promise<void> {
    return this.#received(this.#receivedBytes + 2 * msToSamples(ms, CALLER_RATE));
  }

  #received(bytes: number): Promise<void> {
    if (this.#receivedBytes >= bytes) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ bytes, resolve }));
  }

  /** Audio sent so far, trailing silence with it. */
  get sentMs(): number {
    return samplesToMs(this.#sentSamples, CALLER_RATE);
  }

  sendAudio(samples: Int16Array): void {
    this.#sentSamples += samples.length;
    this.socket.send(samplesToBytes(samples));
  }

  /** Speaks at the pace of the caller's audio, as the runtime does. */
  async speak(samples: Int16Array): Promise<void> {
    const startBytes = this.#receivedBytes;
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      this.sendAudio(samples.subarray(at, at + FRAME_SAMPLES));
      await this.#received(startBytes + 2 * (at + FRAME_SAMPLES));
    }
  }

  /** Ends a turn as an agent must. */
  sendTrailingSilence(): void {
    this.sendAudio(silence(TRAILING_SILENCE_MS, CALLER_RATE));
  }
}

export interface ScriptedCallee {
  url: string;
  /** The first connection. */
  line: Promise<ScriptedLine>;
  stop(): Promise<void>;
}

/** Starts a callee that treats every connection as told. */
export async function startScriptedCallee(
  behave: (line: ScriptedLine) => void | Promise<void>,
): Promise<ScriptedCallee> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const line = new Promise<ScriptedLine>((resolve) => {
    server.on("connection", (socket, request) => {
      const accepted = new ScriptedLine(socket, request);
      resolve(accepted);
      void behave(accepted);
    });
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the callee has no port");
  return {
    url: `ws://127.0.0.1:${address.port}/voice`,
    line,
    stop: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}
