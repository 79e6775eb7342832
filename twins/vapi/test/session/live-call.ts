/** A live call over a real WebSocket: one server socket with a session on it, one client that streams like a microphone. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";
import { encodeMulaw } from "@offhook/audio/mulaw";
import { bytesToSamples, samplesToBytes } from "@offhook/audio/pcm";
import type { SpeechDetector } from "@offhook/audio/speech-detector";
import { liveClock } from "@offhook/platform/base/clock";
import pino, { type Logger } from "pino";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { Brain, BrainRequest, BrainStep } from "../../providers/provider.ts";
import type { AudioFormat } from "../../schema/call.ts";
import { createSessionWith } from "../../session/call-session.ts";
import type {
  CallAssistant,
  CallPlan,
  CallSession,
  EndedCall,
  SessionParts,
  SessionRecord,
} from "../../session/contract.ts";
import { createLevelDetector, tone, toneRecognition, toneSynthesis } from "../../testing/tone-speech.ts";

export type Message = { type: string } & Record<string, unknown>;

/** What arrived at the client, in order. `heardMs`: audio received before it. */
export type Arrival =
  | { type: "message"; message: Message; heardMs: number }
  | { type: "audio"; bytes: Uint8Array };

export interface CallOptions {
  assistant?: Partial<CallAssistant>;
  format?: AudioFormat;
  oddFrames?: boolean;
  /** Media seconds a second. */
  speed?: number;
  /** The reply to the conversation so far. */
  brain?: (request: BrainRequest, signal: AbortSignal) => AsyncIterable<BrainStep> | Iterable<BrainStep>;
  parts?: Partial<SessionParts>;
  log?: Logger;
  createSession?: (plan: CallPlan, parts: SessionParts) => CallSession;
  createDetector?: () => Promise<SpeechDetector>;
  onDetector?: (detector: SpeechDetector) => void;
  endBeforeConnect?: boolean;
}

export const ASSISTANT: CallAssistant = {
  name: "hotline",
  firstMessageMode: "assistant-waits-for-user",
  firstMessageInterruptionsEnabled: false,
  model: {
    provider: "script",
    model: "script",
    temperature: 0.5,
    maxTokens: 250,
    messages: [{ role: "system", content: "Be brief." }],
    tools: [],
  },
  voice: { provider: "tone", voiceId: "tone" },
  transcriber: { provider: "tone", model: "tone", language: "en" },
  startSpeakingPlan: {
    waitSeconds: 0.4,
    transcriptionEndpointingPlan: {
      onPunctuationSeconds: 0.1,
      onNoPunctuationSeconds: 1.5,
      onNumberSeconds: 0.5,
    },
  },
  stopSpeakingPlan: {
    numWords: 0,
    voiceSeconds: 0.2,
    backoffSeconds: 1,
    acknowledgementPhrases: ["okay", "yes"],
    interruptionPhrases: ["stop", "wait"],
  },
  silenceTimeoutSeconds: 30,
  maxDurationSeconds: 600,
  endCallPhrases: [],
  clientMessages: [
    "conversation-update",
    "hang",
    "model-output",
    "speech-update",
    "status-update",
    "transcript",
    "tool-calls",
    "user-interrupted",
    "voice-input",
    "assistant.started",
  ],
};

const FRAME_MS = 20;
/** Of the wall clock; a tick is due every 5 ms. */
const MAX_LAG_MS = 20;

export class LiveCall {
  readonly arrivals: Arrival[] = [];
  readonly published: Message[] = [];
  readonly records: SessionRecord[] = [];
  readonly statuses: string[] = [];
  readonly client: WebSocket;
  readonly session: CallSession;
  readonly #format: AudioFormat;
  readonly #speed: number;
  #uplink: { samples: Int16Array; said: () => void }[] = [];
  #sentSamples = 0;
  readonly #sentBytes: Uint8Array[] = [];
  #pump: NodeJS.Timeout | undefined;
  #watchers = new Set<() => void>();
  #heardBytes = 0;
  closeCode: number | undefined;
  serverSocketClosed: Promise<void> | undefined;
  #serverSocket: WebSocket | undefined;

  constructor(client: WebSocket, session: CallSession, format: AudioFormat, speed: number) {
    this.client = client;
    this.session = session;
    this.#format = format;
    this.#speed = speed;
    client.on("message", (data, isBinary) => this.#arrive(data, isBinary));
    client.on("close", (code) => {
      this.closeCode = code;
      clearInterval(this.#pump);
      this.changed();
    });
  }

  /** The runtime's end of the line. */
  get serverSocket(): WebSocket {
    if (this.#serverSocket === undefined) throw new Error("nobody is connected yet");
    return this.#serverSocket;
  }

  takeServerSocket(socket: WebSocket): void {
    this.#serverSocket = socket;
    this.serverSocketClosed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  get ended(): Promise<EndedCall> {
    return this.session.ended;
  }

  get sentMs(): number {
    return (this.#sentSamples * 1000) / this.#format.sampleRate;
  }

  /** All audio sent, as it went on the wire. */
  get sentBytes(): Buffer {
    return Buffer.concat(this.#sentBytes);
  }

  get messages(): Message[] {
    return this.arrivals.flatMap((arrival) => (arrival.type === "message" ? [arrival.message] : []));
  }

  /** All audio heard, as samples of the negotiated rate (PCM only). */
  get heard(): Int16Array {
    return bytesToSamples(
      Buffer.concat(this.arrivals.flatMap((arrival) => (arrival.type === "audio" ? [arrival.bytes] : []))),
    );
  }

  get heardMs(): number {
    const bytesPerSample = this.#format.format === "mulaw" ? 1 : 2;
    return (this.#heardBytes / bytesPerSample / this.#format.sampleRate) * 1000;
  }

  /** Messages in short: what happened, without the texts that vary. */
  get story(): string[] {
    return this.messages.map(brief);
  }

  /**
   * Starts to stream, silence first. A process that was held up does not make up for it, as the caller's own pacer does
   * not: else half a minute could pass in one go, and the call's timeouts with it.
   */
  startStreaming(): void {
    const frame = this.#format.sampleRate / 50;
    let lastAt = performance.now();
    let owedMs = 0;
    this.#pump = setInterval(() => {
      const now = performance.now();
      owedMs += Math.min(now - lastAt, MAX_LAG_MS) * this.#speed;
      lastAt = now;
      for (; owedMs >= FRAME_MS && this.client.readyState === WebSocket.OPEN; owedMs -= FRAME_MS)
        this.#sendFrame(frame);
    }, 5);
  }

  /**
   * Streams so much at a time until the line closes, each when the runtime has worked through the last: what the call
   * makes of it is decided by the audio alone, not by how soon the machine gets to it.
   */
  async streamInSteps(stepMs: number): Promise<void> {
    const frame = this.#format.sampleRate / 50;
    while (this.client.readyState === WebSocket.OPEN) {
      for (let sentMs = 0; sentMs < stepMs; sentMs += FRAME_MS) this.#sendFrame(frame);
      await this.#workedThrough();
      for (let turn = 0; turn < 10; turn++) await immediate();
    }
  }

  /** Stops to stream, like a microphone that died. */
  stopStreaming(): void {
    clearInterval(this.#pump);
  }

  /** Says something; resolves when all of it is sent. */
  async say(...parts: Int16Array[]): Promise<void> {
    const joined = Buffer.concat(parts.map((part) => samplesToBytes(part)));
    await new Promise<void>((said) => {
      this.#uplink.push({ samples: bytesToSamples(joined), said });
    });
  }

  /** A phrase of the tone language. */
  tone(hz: number, durationMs: number): Int16Array {
    return tone(hz, durationMs, this.#format.sampleRate);
  }

  pause(durationMs: number): Int16Array {
    return new Int16Array(Math.round((durationMs * this.#format.sampleRate) / 1000));
  }

  command(command: object): void {
    this.client.send(JSON.stringify(command));
  }

  /** Resolves with the first message that fits, whether it has come already or not. */
  async message(fits: (message: Message) => boolean): Promise<Message> {
    return this.until(() => this.messages.find(fits));
  }

  async brief(wanted: string): Promise<Message> {
    return this.message((message) => brief(message) === wanted);
  }

  /** Resolves with what `look` finds as soon as it finds something. */
  async until<T>(look: () => T | undefined): Promise<T> {
    const now = look();
    if (now !== undefined) return now;
    return new Promise((resolve) => {
      const watcher = () => {
        const found = look();
        if (found === undefined) return;
        this.#watchers.delete(watcher);
        resolve(found);
      };
      this.#watchers.add(watcher);
    });
  }

  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async closed(): Promise<number> {
    return this.until(() => this.closeCode);
  }

  /** Resolves when the runtime has read all that was sent, or the line is closed. */
  #workedThrough(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.client.off("pong", done);
        this.client.off("close", done);
        resolve();
      };
      this.client.on("pong", done);
      this.client.on("close", done);
      this.client.ping();
    });
  }

  #sendFrame(samples: number): void {
    const [head] = this.#uplink;
    const audio = new Int16Array(samples);
    if (head !== undefined) {
      audio.set(head.samples.subarray(0, samples));
      head.samples = head.samples.subarray(samples);
      if (head.samples.length === 0) {
        this.#uplink.shift();
        head.said();
      }
    }
    this.#sentSamples += samples;
    const bytes = this.#format.format === "mulaw" ? encodeMulaw(audio) : samplesToBytes(audio);
    this.#sentBytes.push(bytes);
    this.client.send(bytes);
  }

  #arrive(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.from([]);
    if (isBinary) {
      this.#heardBytes += bytes.length;
      this.arrivals.push({ type: "audio", bytes });
    } else {
      const message = JSON.parse(bytes.toString()) as Message;
      this.arrivals.push({ type: "message", message, heardMs: this.heardMs });
    }
    this.changed();
  }
}

/** `speech-update assistant started 0`, `transcript user final: Hello there.`, … */
export function brief(message: Message): string {
  switch (message.type) {
    case "status-update":
      return `${message.type} ${message.status}`;
    case "speech-update":
      return `${message.type} ${message.role} ${message.status} ${message.turn}`;
    case "transcript":
      return `${message.type} ${message.role} ${message.transcriptType}: ${message.transcript}`;
    default:
      return message.type;
  }
}

const open = new Set<{ server: WebSocketServer; call: LiveCall }>();

/** A connected call; the client does not stream yet. */
export async function placeCall(options: CallOptions = {}): Promise<LiveCall> {
  const { format = { format: "pcm_s16le", sampleRate: 16_000 }, speed = 20 } = options;
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const assistant = { ...ASSISTANT, ...options.assistant };
  const plan: CallPlan = {
    callId: "call-1",
    simulationId: undefined,
    assistant,
    audioFormat: format,
    oddFrames: options.oddFrames ?? false,
  };
  let call: LiveCall | undefined;
  const parts: SessionParts = {
    recognition: toneRecognition,
    synthesis: toneSynthesis,
    brain: brainOf(options.brain ?? (() => [])),
    clock: liveClock,
    log: options.log ?? pino({ level: "silent" }),
    runTools: async (calls) => calls.map((toolCall) => ({ call: toolCall, content: "{}" })),
    record: (entry) => call?.records.push(entry),
    publish: (message) => call?.published.push(message),
    status: (status, reason) => call?.statuses.push(reason ? `${status} ${reason}` : status),
    ...options.parts,
  };
  const session =
    options.createSession?.(plan, parts) ??
    createSessionWith(
      plan,
      parts,
      options.createDetector ??
        (async () => {
          const detector = createLevelDetector(100, 400);
          options.onDetector?.(detector);
          return detector;
        }),
    );
  const connected = once(server, "connection");
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  call = new LiveCall(client, session, format, speed);
  open.add({ server, call });
  const [socket] = (await connected) as [WebSocket];
  call.takeServerSocket(socket);
  if (options.endBeforeConnect) session.end("manually-canceled");
  session.connect(socket);
  void session.ended.then(() => call?.changed());
  if (client.readyState !== WebSocket.OPEN) await once(client, "open");
  return call;
}

/** A call that streams from its first moment. */
export async function startCall(options: CallOptions = {}): Promise<LiveCall> {
  const call = await placeCall(options);
  call.startStreaming();
  return call;
}

/** Ends what a test left open. */
export async function hangUpAll(): Promise<void> {
  for (const { server, call } of open) {
    call.session.end("test-over");
    call.stopStreaming();
    call.client.terminate();
    server.close();
  }
  open.clear();
}

function brainOf(reply: NonNullable<CallOptions["brain"]>): Brain {
  return {
    async *reply(request, signal) {
      yield* reply(request, signal);
    },
  };
}

/** A brain that repeats what it heard last. */
export function* echo({ conversation }: BrainRequest): Iterable<BrainStep> {
  const last = conversation.at(-1);
  yield { type: "say", text: `You said: ${last?.role === "user" ? last.content : "nothing"}` };
}
