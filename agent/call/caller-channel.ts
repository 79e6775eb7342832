/**
 * The caller's side of a call: one WebSocket, in one of two framings.
 * `binary`: each message is bare PCM16; the channel never sends text. `json`: each message is a text envelope,
 * `{"type":"audio","audio":"<base64>"}` both ways, and `{"type":"end"}` from a caller that hangs up.
 */
import type { RawData, WebSocket } from "ws";
import { z } from "zod";
import type { AudioSink } from "./audio-lane.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { closeSocket } from "./socket-close.ts";

export const framings = ["binary", "json"] as const;
export type Framing = (typeof framings)[number];

/** Close codes of RFC 6455. */
const PROTOCOL_ERROR = 1002;
const UNSUPPORTED_DATA = 1003;
const INVALID_PAYLOAD = 1007;
const CLOSE_TIMEOUT_MS = 15_000;

const envelopeSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("audio"), audio: z.base64() }),
  z.object({ type: z.literal("end") }),
]);

/** How the caller left. */
export type CallerDeparture =
  | { kind: "hung-up"; code: number }
  | { kind: "vanished"; reason: string }
  | { kind: "violation"; closeCode: number; reason: string };

export interface CallerHandlers {
  audio(chunk: Buffer): void;
  /** Called at most once. */
  gone(departure: CallerDeparture): void;
}

export class CallerChannel implements AudioSink {
  readonly framing: Framing;
  readonly #socket: WebSocket;
  readonly #send: (samples: Buffer, sent?: () => void) => void;
  #heartbeat: Heartbeat | undefined;
  #handlers: CallerHandlers | undefined;

  constructor(socket: WebSocket, framing: Framing) {
    this.#socket = socket;
    this.framing = framing;
    this.#send =
      framing === "binary"
        ? (samples, sent) => socket.send(samples, sent)
        : (samples, sent) => socket.send(`{"type":"audio","audio":"${samples.toString("base64")}"}`, sent);
  }

  /** Starts listening; call it in the same tick in which the socket was accepted, or messages are lost. */
  listen(handlers: CallerHandlers, heartbeatMs: number): void {
    this.#handlers = handlers;
    const heartbeat = startHeartbeat(this.#socket, heartbeatMs, () => {
      this.#leave({ kind: "vanished", reason: "nothing was heard of the caller, not even a pong" });
      this.#socket.terminate();
    });
    this.#heartbeat = heartbeat;
    this.#socket.on("message", (data, isBinary) => {
      heartbeat.seen();
      this.#receive(data, isBinary);
    });
    this.#socket.on("error", (error) => this.#leave(departureOf(error)));
    this.#socket.on("close", (code) => {
      heartbeat.stop();
      if (code === 1006) this.#leave({ kind: "vanished", reason: "the connection broke" });
      else this.#leave({ kind: "hung-up", code });
    });
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(samples: Buffer, sent?: () => void): void {
    this.#send(samples, sent);
  }

  /** Closes the caller's socket after the audio sent so far; resolves when it is closed. */
  async close(code: number, reason: string): Promise<void> {
    this.#handlers = undefined;
    await closeSocket(this.#socket, code, reason, CLOSE_TIMEOUT_MS);
    this.#heartbeat?.stop();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) throw new TypeError("the socket must deliver whole Buffers");
    if (isBinary === (this.framing === "binary")) {
      if (isBinary) this.#handlers?.audio(data);
      else this.#receiveEnvelope(data.toString());
      return;
    }
    const reason = isBinary
      ? "this channel takes JSON text frames, not binary ones"
      : "this channel takes binary PCM16 frames, not text; for JSON connect with ?protocol=json";
    this.#leave({ kind: "violation", closeCode: UNSUPPORTED_DATA, reason });
  }

  #receiveEnvelope(text: string): void {
    const envelope = envelopeSchema.safeParse(parseJson(text));
    if (!envelope.success) {
      const reason = 'expected {"type":"audio","audio":"<base64>"} or {"type":"end"}';
      this.#leave({ kind: "violation", closeCode: INVALID_PAYLOAD, reason });
    } else if (envelope.data.type === "audio") {
      this.#handlers?.audio(Buffer.from(envelope.data.audio, "base64"));
    } else {
      this.#leave({ kind: "hung-up", code: 1000 });
    }
  }

  #leave(departure: CallerDeparture): void {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    handlers?.gone(departure);
  }
}

/** The library closes the socket itself, with the right code, when a frame breaks the protocol or is too large. */
function departureOf(error: Error): CallerDeparture {
  const reason = error.message;
  const isViolation = "code" in error && typeof error.code === "string" && error.code.startsWith("WS_ERR_");
  return isViolation
    ? { kind: "violation", closeCode: PROTOCOL_ERROR, reason }
    : { kind: "vanished", reason };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
