/**
 * The line to the callee: a WebSocket carrying PCM16 (24 kHz, mono, little-endian) in one of two framings.
 * `binary`: bare audio, and closing hangs up; a text frame is a protocol violation.
 * `json`: `{"type":"audio","audio":"<base64>"}` both ways and `{"type":"end"}` to end.
 */
import { type RawData, WebSocket } from "ws";
import { z } from "zod";

export type Framing = "binary" | "json";

/** How a line ended. */
export type LineEnd =
  /** It never opened: no listener, an HTTP status instead of the upgrade, or no answer. */
  | { type: "refused"; reason: string }
  /** It was open and closed; 1006 without a closing handshake. */
  | { type: "closed"; code: number; reason: string };

export interface LineListener {
  onOpen(): void;
  /** A piece of audio of any length in bytes. */
  onAudio(bytes: Uint8Array): void;
  /** The callee asked to end the call (`{"type":"end"}`). */
  onEndRequest(): void;
  /** The callee violated the framing; nothing is read afterwards. */
  onViolation(what: string): void;
  /** The last event. */
  onEnd(end: LineEnd): void;
}

export interface LineOptions {
  url: string;
  framing: Framing;
  headers: Record<string, string>;
  /** Maximum wait for the upgrade. */
  connectTimeoutMs: number;
}

const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 2_000;
const NORMAL_CLOSURE = 1000;
const UNSUPPORTED_DATA = 1003;
const MAX_QUOTE_LENGTH = 80;

const jsonMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("audio"), audio: z.base64() }),
  z.object({ type: z.literal("end") }),
]);

export class Line {
  readonly #socket: WebSocket;
  readonly #framing: Framing;
  readonly #listener: LineListener;
  #end: LineEnd | undefined;
  #refusal = "";
  #opened = false;
  #violated = false;

  constructor({ url, framing, headers, connectTimeoutMs }: LineOptions, listener: LineListener) {
    this.#framing = framing;
    this.#listener = listener;
    this.#socket = new WebSocket(addressOf(url, framing), {
      headers,
      handshakeTimeout: connectTimeoutMs,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket.on("open", () => {
      this.#opened = true;
      listener.onOpen();
    });
    this.#socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    this.#socket.on("unexpected-response", (_request, response) => {
      this.#refusal = `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim();
      response.resume();
      this.#socket.terminate();
    });
    this.#socket.on("error", (error) => {
      if (this.#refusal === "") this.#refusal = error.message;
    });
    this.#socket.on("close", (code, reason) => this.#close(code, reason.toString("utf8")));
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Bytes sent and not yet accepted by the network. */
  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends one frame of audio. */
  send(frame: Buffer): void {
    if (!this.open) return;
    if (this.#framing === "binary") this.#socket.send(frame);
    else this.#socket.send(JSON.stringify({ type: "audio", audio: frame.toString("base64") }));
  }

  /** Ends the call from this side; `onEnd` follows within two seconds. */
  hangUp(): void {
    if (this.open && this.#framing === "json") this.#socket.send(JSON.stringify({ type: "end" }));
    this.#closeSocket(NORMAL_CLOSURE, "");
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#violated) return;
    const bytes = bytesOf(data);
    if (isBinary !== (this.#framing === "binary")) {
      this.#rejectMessage(
        isBinary
          ? "a binary frame came where only JSON may"
          : `a text frame came where only audio may: ${quote(bytes)}`,
      );
    } else if (isBinary) this.#listener.onAudio(bytes);
    else this.#receiveEnvelope(bytes);
  }

  #receiveEnvelope(bytes: Buffer): void {
    const message = jsonMessageSchema.safeParse(parseJson(bytes));
    if (!message.success) this.#rejectMessage(`a message is neither audio nor end: ${quote(bytes)}`);
    else if (message.data.type === "end") this.#listener.onEndRequest();
    else this.#listener.onAudio(Buffer.from(message.data.audio, "base64"));
  }

  #rejectMessage(what: string): void {
    this.#violated = true;
    this.#closeSocket(UNSUPPORTED_DATA, "protocol violation");
    this.#listener.onViolation(what);
  }

  #closeSocket(code: number, reason: string): void {
    if (this.#end !== undefined || this.#socket.readyState === WebSocket.CLOSING) return;
    this.#socket.close(code, reason);
    const forced = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once("close", () => clearTimeout(forced));
  }

  #close(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = this.#opened
      ? { type: "closed", code, reason }
      : { type: "refused", reason: this.#refusal || "the connection was closed" };
    this.#listener.onEnd(this.#end);
  }
}

function addressOf(url: string, framing: Framing): string {
  const address = new URL(url);
  if (framing === "json") address.searchParams.set("protocol", "json");
  return address.href;
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function quote(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return JSON.stringify(text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}…` : text);
}
