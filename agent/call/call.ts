/** One phone call: the caller's socket and the runtime's, bridged. */
import type { Logger } from "pino";
import { messageOf } from "../log.ts";
import type { AgentMetrics } from "../metrics.ts";
import { bytesOf, isAudible } from "../pcm.ts";
import type { PublicUrl } from "../public-url.ts";
import type { CallRecording } from "../recording.ts";
import type { CallTrace } from "../telemetry/call-trace.ts";
import { AudioLane, type AudioSink } from "./audio-lane.ts";
import { type CallLimits, LimitWatch } from "./call-limits.ts";
import type { CallerChannel } from "./caller-channel.ts";
import { callerClose, type Ending, endingOfDeparture, outcomeOf } from "./ending.ts";
import { RecognitionWatch } from "./recognition-watch.ts";
import type { RuntimeCall, RuntimeCalls } from "./runtime-calls.ts";
import { FINAL_STATUSES, isFailure, type RuntimeMessage, readRuntimeMessage } from "./runtime-messages.ts";
import { dialRuntime, isOrderly, type RuntimeSocket } from "./runtime-socket.ts";
import { TRAILING_SILENCE } from "./trailing-silence.ts";
import { TurnClock } from "./turn-clock.ts";

/** Limits of the caller's audio, during set-up and for a slow runtime. */
const TO_RUNTIME_LIMITS = {
  beforeOpenBytes: bytesOf(10_000),
  waitingBytes: bytesOf(5_000),
  highWaterBytes: bytesOf(1_000),
};
/** The high-water mark is low, because audio in the socket cannot be cleared when the caller interrupts. */
const TO_CALLER_LIMITS = {
  beforeOpenBytes: bytesOf(10_000),
  waitingBytes: bytesOf(30_000),
  highWaterBytes: bytesOf(500),
};
const MAX_ODDITIES_LOGGED = 32;

export interface CallParts {
  runtimeCalls: RuntimeCalls;
  publicUrl: PublicUrl;
  metrics: AgentMetrics;
  log: Logger;
  trace: CallTrace;
  /** The inline assistant. @param baseUrl address at which the runtime reaches this agent */
  assistant(baseUrl: string): object;
  recording: CallRecording | undefined;
  limits: CallLimits;
  dialTimeoutMs: number;
  heartbeatMs: number;
}

export class Call {
  /** The agent's own id of the call. */
  readonly id: string;
  readonly log: Logger;
  readonly #caller: CallerChannel;
  readonly #parts: CallParts;
  readonly #toRuntime: AudioLane;
  readonly #toCaller: AudioLane;
  readonly #turns: TurnClock;
  readonly #limits: LimitWatch;
  readonly #recognition = new RecognitionWatch(() => this.#onUnrecognised());
  #unrecognisedLogged = false;
  readonly #startedAt = performance.now();
  readonly #over = new AbortController();
  readonly #oddities = new Set<string>();
  readonly #ended: Promise<Ending>;
  #resolveEnded: (ending: Ending) => void = () => {};
  #ending: Ending | undefined;
  #runtimeCall: RuntimeCall | undefined;
  #runtimeSocket: RuntimeSocket | undefined;

  constructor(id: string, caller: CallerChannel, parts: CallParts) {
    this.id = id;
    this.log = parts.log;
    this.#caller = caller;
    this.#parts = parts;
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#toRuntime = this.#lane("to_runtime", TO_RUNTIME_LIMITS);
    this.#toCaller = this.#lane("to_caller", TO_CALLER_LIMITS);
    this.#limits = new LimitWatch(parts.limits, (limit) => this.end({ kind: "limit-reached", ...limit }));
    this.#turns = new TurnClock({
      firstAudio: (durationMs) => {
        parts.metrics.firstAudio.observeMs(durationMs);
        parts.trace.firstAudio();
      },
      response: (durationMs) => {
        parts.metrics.response.observeMs(durationMs);
        parts.trace.response(durationMs);
        parts.recording?.note("response", { responseMs: Math.round(durationMs) });
      },
    });
  }

  /** The runtime's id of the call, once it is created and if it has one. */
  get runtimeCallId(): string | undefined {
    return this.#runtimeCall?.id;
  }

  /** Runs the call from the caller's connection to the last closed socket; never rejects. */
  async run(): Promise<void> {
    this.log.info({ framing: this.#caller.framing }, "call started");
    this.#toCaller.connect(this.#recordingSink(this.#caller));
    this.#caller.listen(
      {
        audio: (chunk) => this.#callerAudio(chunk),
        gone: (departure) => this.end(endingOfDeparture(departure)),
      },
      this.#parts.heartbeatMs,
    );
    try {
      await this.#parts.trace.setUp(() => this.#setUp());
    } catch (error) {
      this.end({ kind: "setup-failed", reason: messageOf(error) });
    }
    try {
      await this.#tearDown(await this.#ended);
    } finally {
      this.#runtimeCall?.end();
    }
  }

  /** Ends the call; the first reason counts. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#limits.stop();
    this.#resolveEnded(ending);
    this.#over.abort();
  }

  /** Adds an event to the recording's timeline, if there is a recording. */
  note(event: string, details: Record<string, unknown>): void {
    this.#parts.recording?.note(event, details);
  }

  #lane(direction: "to_runtime" | "to_caller", limits: typeof TO_CALLER_LIMITS): AudioLane {
    return new AudioLane(limits, ({ bytes, firstOfEpisode }) => {
      this.#parts.metrics.dropped.add(bytes, { direction });
      if (firstOfEpisode)
        this.log.warn({ direction }, "a side does not take audio in time: the oldest is dropped");
    });
  }

  /** Records what is sent to the caller, without what an interruption discarded. */
  #recordingSink(caller: CallerChannel): AudioSink {
    const { recording } = this.#parts;
    if (recording === undefined) return caller;
    return {
      get bufferedBytes() {
        return caller.bufferedBytes;
      },
      send(samples, sent) {
        recording.assistantAudio(samples);
        caller.send(samples, sent);
      },
    };
  }

  async #setUp(): Promise<void> {
    const { signal } = this.#over;
    const { trace } = this.#parts;
    const baseUrl = await this.#parts.publicUrl.get(signal);
    signal.throwIfAborted();
    const call = await trace.step("POST /call", (headers) =>
      this.#parts.runtimeCalls.create(this.#parts.assistant(baseUrl), signal, this.log, headers),
    );
    this.#runtimeCall = call;
    signal.throwIfAborted();
    if (call.websocketCallUrl === undefined) {
      throw new Error("the voice runtime's answer has no usable transport.websocketCallUrl");
    }
    const url = call.websocketCallUrl;
    const handlers = {
      opened: (socket: RuntimeSocket) => this.#connected(socket),
      audio: (chunk: Buffer) => this.#runtimeAudio(chunk),
      text: (text: string) => this.#runtimeMessage(readRuntimeMessage(text)),
      gone: (code: number, reason: string) => this.#runtimeGone(code, reason),
    };
    const { dialTimeoutMs: timeoutMs, heartbeatMs } = this.#parts;
    await trace.step("connect call socket", () =>
      dialRuntime(url, handlers, { timeoutMs, heartbeatMs, signal }),
    );
  }

  #connected(socket: RuntimeSocket): void {
    this.#runtimeSocket = socket;
    this.#toRuntime.connect(socket);
    this.#limits.connected();
    const setupMs = performance.now() - this.#startedAt;
    this.#parts.metrics.setup.observeMs(setupMs);
    const runtimeCallId = this.runtimeCallId;
    this.#parts.trace.connected(runtimeCallId);
    this.note("connected", { runtimeCallId });
    this.log.info({ runtimeCallId, setupMs: Math.round(setupMs) }, "call connected");
  }

  #callerAudio(chunk: Buffer): void {
    const samples = this.#toRuntime.push(chunk);
    const now = performance.now();
    if (isAudible(samples)) {
      this.#turns.callerSound(now);
      this.#limits.sound(now);
    } else this.#limits.callerSilence(samples.length, now);
    this.#recognition.callerAudio(samples);
    this.#parts.recording?.callerAudio(samples);
  }

  #runtimeAudio(chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    const samples = this.#toCaller.push(chunk);
    if (!isAudible(samples)) return;
    const now = performance.now();
    this.#turns.assistantSound(now);
    this.#limits.sound(now);
  }

  #runtimeMessage(message: RuntimeMessage): void {
    if (this.#ending !== undefined) return;
    this.#recognition.message(message);
    switch (message.type) {
      case "speech-update":
        this.note("speech-update", { role: message.role, status: message.status });
        if (message.role === "assistant" && message.status === "stopped") {
          this.#toCaller.insert(TRAILING_SILENCE);
        }
        return;
      case "user-interrupted": {
        const clearedBytes = this.#toCaller.clear();
        this.note("user-interrupted", { clearedBytes });
        this.log.debug({ clearedBytes }, "the caller interrupted");
        return;
      }
      case "status-update":
        this.note("status-update", { status: message.status, endedReason: message.endedReason });
        if (FINAL_STATUSES.has(message.status)) {
          // `failed` does not mean that the call is over for the runtime.
          if (message.status !== "failed") this.#runtimeCall?.over();
          const reason = message.endedReason ?? message.status;
          const kind = isFailure(message.status, message.endedReason) ? "runtime-failed" : "runtime-ended";
          this.end({ kind, reason });
        }
        return;
      case "transcript":
        if (message.transcriptType !== "partial") {
          this.note("transcript", { role: message.role, text: message.transcript });
        }
        return;
      case "hang":
        this.note("hang", {});
        this.log.warn("the runtime says its model or a tool is slow");
        return;
      case "not-understood":
        this.#warnOnce(message.what);
        return;
      case "passed-over":
        return;
    }
  }

  #onUnrecognised(): void {
    this.note("unrecognised", {});
    if (this.#unrecognisedLogged) return;
    this.#unrecognisedLogged = true;
    this.log.warn(
      "the runtime heard the caller speak and recognised nothing, so nobody answers: check that the caller sends PCM16 at 24 kHz, that the assistant's transcriber knows its language, and what the runtime's log says",
    );
  }

  #warnOnce(what: string): void {
    if (this.#oddities.has(what) || this.#oddities.size >= MAX_ODDITIES_LOGGED) return;
    this.#oddities.add(what);
    this.log.warn({ what }, "the runtime sent something that is not understood; it is ignored");
  }

  #runtimeGone(code: number, reason: string): void {
    if (isOrderly(code)) this.end({ kind: "runtime-ended", reason: reason || "socket closed" });
    else this.end({ kind: "runtime-failed", reason: `call socket closed with ${code} ${reason}`.trim() });
  }

  async #tearDown(ending: Ending): Promise<void> {
    const outcome = outcomeOf(ending);
    this.#logEnd(ending, outcome);
    this.note("ended", { outcome, kind: ending.kind });
    this.#parts.metrics.calls.add(1, { outcome });
    this.#parts.trace.end(outcome);
    this.#toCaller.finish();
    const { code, reason } = callerClose(ending);
    await Promise.all([
      this.#caller.close(code, reason),
      this.#tearDownRuntime(),
      this.#parts.recording?.finish(),
    ]);
  }

  /** Ends the call by its socket and, unless the runtime acknowledges that, in the background over HTTP. */
  async #tearDownRuntime(): Promise<void> {
    this.#toRuntime.finish();
    const call = this.#runtimeCall;
    if (call?.isOver) await this.#runtimeSocket?.close();
    else if (await this.#runtimeSocket?.endCall()) call?.over();
    else call?.end();
  }

  #logEnd(ending: Ending, outcome: string): void {
    const details = {
      outcome,
      reason: "reason" in ending ? ending.reason : undefined,
      durationMs: Math.round(performance.now() - this.#startedAt),
      droppedToRuntimeBytes: this.#toRuntime.droppedBytes,
      droppedToCallerBytes: this.#toCaller.droppedBytes,
    };
    if (outcome === "completed" || outcome === "shut_down") this.log.info(details, "call ended");
    else this.log.warn(details, "call ended");
  }
}
