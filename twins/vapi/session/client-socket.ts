/** The client's end of a call: audio and commands in, audio and messages out. */
import type { Logger } from "pino";
import type { RawData, WebSocket } from "ws";
import type { AudioFormat } from "../schema/call.ts";
import { UplinkDecoder } from "./codec.ts";
import { parseCommand } from "./commands.ts";
import type { AudioTap, SessionCommand } from "./contract.ts";
import { Downlink } from "./downlink.ts";
import type { RuntimeMessage } from "./messages.ts";

/** Each problem of a client's messages is logged once; beyond this many kinds, none is. */
const MAX_PROBLEMS = 20;

export interface ClientSocketOptions {
  socket: WebSocket;
  format: AudioFormat;
  clientMessages: readonly string[];
  oddFrames: boolean;
  /** Takes the audio of both directions. */
  audio: AudioTap | undefined;
  log: Logger;
  events: {
    /** Audio at the internal rate. */
    onAudio(audio: Int16Array): void;
    onCommand(command: SessionCommand): void;
    /** The client disconnected without ending the call. */
    onLost(closeCode: number): void;
  };
}

export class ClientSocket {
  readonly #socket: WebSocket;
  readonly #downlink: Downlink;
  readonly #decoder: UplinkDecoder;
  readonly #audio: AudioTap | undefined;
  readonly #log: Logger;
  readonly #events: ClientSocketOptions["events"];
  readonly #problems = new Set<string>();
  #closed = false;

  constructor({ socket, format, clientMessages, oddFrames, audio, log, events }: ClientSocketOptions) {
    this.#socket = socket;
    this.#audio = audio;
    this.#log = log;
    this.#events = events;
    this.#decoder = new UplinkDecoder(format);
    this.#downlink = new Downlink({ socket, format, clientMessages, oddFrames, audio, log });
    socket.on("message", this.#onMessage);
    socket.on("close", this.#onClose);
    socket.on("error", this.#onError);
  }

  voice(frame: Int16Array, nowMs: number): void {
    this.#downlink.voice(frame, nowMs);
  }

  tick(nowMs: number): void {
    this.#downlink.tick(nowMs);
  }

  endOfSpeech(): void {
    this.#downlink.endOfSpeech();
  }

  dropSpeech(): void {
    this.#downlink.dropSpeech();
  }

  message(message: RuntimeMessage): void {
    this.#downlink.message(message);
  }

  /** Stops reading, so that back-pressure reaches the client. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Starts the closing handshake; what the client still sends is discarded. */
  close(code: number, reason: string): void {
    this.#closed = true;
    this.#socket.off("message", this.#onMessage);
    this.#socket.resume();
    this.#downlink.close(code, reason);
  }

  readonly #onMessage = (data: RawData, isBinary: boolean): void => {
    const bytes = bytesOf(data);
    if (isBinary) this.#takeAudio(bytes);
    else this.#takeText(bytes.toString("utf8"));
  };

  readonly #onClose = (code: number): void => {
    this.#socket.off("message", this.#onMessage);
    this.#socket.off("close", this.#onClose);
    this.#socket.off("error", this.#onError);
    if (!this.#closed) this.#events.onLost(code);
  };

  readonly #onError = (error: Error): void => {
    this.#log.warn({ err: error }, "the client's socket failed");
  };

  #takeAudio(bytes: Uint8Array): void {
    const samples = this.#decoder.samplesOf(bytes);
    this.#audio?.receive(samples);
    this.#events.onAudio(this.#decoder.resample(samples));
  }

  #takeText(text: string): void {
    const parsed = parseCommand(parseJson(text));
    switch (parsed.type) {
      case "command":
        this.#events.onCommand(parsed.command);
        return;
      case "not-served":
        this.#warnOnce(parsed.name, "the client sent a command that is not served here: ignored");
        return;
      case "invalid":
        this.#warnOnce(parsed.problem, "the client sent an invalid command: ignored");
        return;
    }
  }

  #warnOnce(problem: string, message: string): void {
    if (this.#problems.has(problem) || this.#problems.size >= MAX_PROBLEMS) return;
    this.#problems.add(problem);
    this.#log.warn({ problem }, message);
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
