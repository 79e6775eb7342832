/** One live call: the caller's audio in, the assistant's voice and the runtime's messages out. */

import { createSpeechDetector, type SpeechDetector } from "@offhook/audio/speech-detector";
import type { WebSocket } from "ws";
import { INTERNAL_RATE } from "../providers/provider.ts";
import { ClientSocket } from "./client-socket.ts";
import type {
  CallPlan,
  CallSession,
  CreateSession,
  EndedCall,
  SessionCommand,
  SessionParts,
} from "./contract.ts";
import { Conversation } from "./conversation.ts";
import { Line } from "./line.ts";
import { SPEECH_END_MS, SPEECH_START_MS } from "./listener.ts";
import { MediaClock, SILENT_TICK } from "./media-clock.ts";
import { assistantStarted, conversationUpdate, type RuntimeMessage } from "./messages.ts";
import { TurnMachine } from "./turn-machine.ts";
import { NORMAL_CLOSURE, type TurnEffect, type TurnEvent } from "./turn-types.ts";

/**
 * Delay from the opening of the socket to `in-progress`, from which on turns are taken. Media time, or wall time for a
 * client that has sent no audio yet.
 */
const IN_PROGRESS_MS = 140;
/** Maximum commands queued until the call is connected. */
const MAX_EARLY_COMMANDS = 100;
/** Maximum messages a client may add to one call. */
const MAX_ADDED_MESSAGES = 1_000;
const INTERNAL_ERROR = 1011;

export type CreateDetector = () => Promise<SpeechDetector>;

export const createSession: CreateSession = (plan, parts) =>
  createSessionWith(plan, parts, () =>
    createSpeechDetector({ sampleRate: INTERNAL_RATE, startMs: SPEECH_START_MS, endMs: SPEECH_END_MS }),
  );

/** Like `createSession`, with another speech detector. */
export function createSessionWith(
  plan: CallPlan,
  parts: SessionParts,
  createDetector: CreateDetector,
): CallSession {
  return new LiveCall(plan, parts, createDetector);
}

/** Commands that need a connected call. */
type LineCommand = Exclude<SessionCommand, { type: "end-call" | "hangup" }>;

class LiveCall implements CallSession {
  readonly ended: Promise<EndedCall>;
  readonly #plan: CallPlan;
  readonly #parts: SessionParts;
  readonly #createDetector: CreateDetector;
  readonly #machine: TurnMachine;
  readonly #conversation: Conversation;
  readonly #clock: MediaClock;
  /** Fires when the call is over. */
  readonly #over = new AbortController();
  #resolveEnded: (call: EndedCall) => void = () => {};
  #socket: ClientSocket | undefined;
  #line: Line | undefined;
  #inProgress: "not-yet" | "told" = "not-yet";
  #inProgressTimer: NodeJS.Timeout | undefined;
  #customerMuted = false;
  #droppedSamples = 0;
  #silenceNoted = false;
  #addedMessages = 0;
  readonly #early: LineCommand[] = [];

  constructor(plan: CallPlan, parts: SessionParts, createDetector: CreateDetector) {
    this.#plan = plan;
    this.#parts = parts;
    this.#createDetector = createDetector;
    this.#machine = new TurnMachine(plan.assistant);
    this.#conversation = new Conversation(plan.assistant.model.messages);
    this.#clock = new MediaClock({
      onTick: (frame) => {
        this.#tick(frame);
        parts.audio?.tick();
      },
      onFull: () => this.#socket?.pause(),
      onRoom: () => this.#socket?.resume(),
      onDrop: (samples) => {
        parts.audio?.drop(samples);
        this.#noteDropped(samples);
      },
      onFill: (samples) => parts.audio?.fill(samples),
      onSilence: (withoutAudioMs) => this.#noteSilence(withoutAudioMs),
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  connect(socket: WebSocket): void {
    const { audioFormat, assistant, oddFrames = false } = this.#plan;
    if (this.#machine.ended) {
      socket.close(NORMAL_CLOSURE, "the call is over");
      return;
    }
    this.#socket = new ClientSocket({
      socket,
      format: audioFormat,
      clientMessages: assistant.clientMessages,
      oddFrames,
      audio: this.#parts.audio,
      log: this.#parts.log,
      events: {
        onAudio: (audio) => this.#clock.receive(audio),
        onCommand: (command) => this.command(command),
        onLost: (code) =>
          this.#parts.log.warn({ code }, "the client's socket closed without end-call: the call stays live"),
      },
    });
    this.#clock.start();
    this.#inProgressTimer = setTimeout(() => {
      if (this.#clock.receivedMs === 0) this.#becomeInProgress();
    }, IN_PROGRESS_MS);
    void this.#openLine(this.#socket);
  }

  command(command: SessionCommand): void {
    if (command.type === "end-call" || command.type === "hangup") this.end("customer-ended-call");
    else if (this.#line !== undefined) this.#carryOutCommand(command);
    else if (this.#early.length < MAX_EARLY_COMMANDS) this.#early.push(command);
    else
      this.#parts.log.warn(
        { type: command.type },
        "too many commands before the call was connected: ignored",
      );
  }

  end(endedReason: string, closeCode = NORMAL_CLOSURE): void {
    this.#dispatch({ type: "end", reason: endedReason, closeCode });
  }

  #carryOutCommand(command: LineCommand): void {
    switch (command.type) {
      case "say":
        this.#dispatch({
          type: "say",
          text: command.content,
          interruptible: command.interruptionsEnabled,
          cutsIn: command.interruptAssistantEnabled,
          endsCall: command.endCallAfterSpoken,
        });
        return;
      case "add-message":
        this.#addMessage(command);
        return;
      case "control":
        this.#control(command.control);
    }
  }

  #addMessage({ message, triggerResponseEnabled }: Extract<SessionCommand, { type: "add-message" }>): void {
    if (this.#machine.ended) return;
    if (this.#addedMessages >= MAX_ADDED_MESSAGES) {
      this.#parts.log.warn(
        { limit: MAX_ADDED_MESSAGES },
        "the client added too many messages to the call: ignored",
      );
      return;
    }
    this.#addedMessages += 1;
    this.#conversation.add(message);
    this.#send(conversationUpdate(this.#conversation.all()));
    if (triggerResponseEnabled) this.#dispatch({ type: "reply-wanted" });
  }

  #control(control: Extract<SessionCommand, { type: "control" }>["control"]): void {
    switch (control) {
      case "mute-assistant":
        this.#line?.muteAssistant();
        return;
      case "unmute-assistant":
        this.#line?.unmuteAssistant();
        return;
      case "mute-customer":
      case "unmute-customer":
        this.#customerMuted = control === "mute-customer";
        return;
      case "say-first-message":
        this.#dispatch({ type: "say-first-message" });
    }
  }

  /** Creates the line; audio queues until its speech detector has loaded. */
  async #openLine(socket: ClientSocket): Promise<void> {
    const release = this.#clock.hold({ applies: () => true });
    try {
      const detector = await this.#createDetector();
      if (this.#machine.ended) {
        detector.close();
        return;
      }
      this.#line = new Line({
        plan: this.#plan,
        parts: this.#parts,
        conversation: this.#conversation,
        clock: this.#clock,
        socket,
        detector,
        callSignal: this.#over.signal,
        send: (message) => this.#send(message),
        apply: (event) => this.#apply(event),
        dispatch: (event) => this.#dispatch(event),
      });
      this.#dispatch({ type: "opened" });
      for (const command of this.#early.splice(0)) this.#carryOutCommand(command);
    } catch (error) {
      this.#parts.log.error({ err: error }, "the speech detector did not start: the call ends");
      this.end("call.in-progress.error-vapifault-worker-died", INTERNAL_ERROR);
    } finally {
      release();
      this.#clock.resume();
    }
  }

  #becomeInProgress(): void {
    if (this.#inProgress === "told" || this.#machine.ended) return;
    this.#inProgress = "told";
    this.#parts.status("in-progress");
    this.#send({ type: "status-update", status: "in-progress" });
    this.#send(assistantStarted(this.#plan.assistant));
  }

  /** Advances the call by 10 ms. */
  #tick(frame: Int16Array): void {
    const line = this.#line;
    if (line === undefined) return;
    const { nowMs } = this.#clock;
    for (const edge of line.hear(this.#customerMuted ? SILENT_TICK : frame)) this.#apply(edge);
    if (nowMs < IN_PROGRESS_MS) return;
    this.#becomeInProgress();
    this.#apply({ type: "tick", nowMs, playing: line.speak(nowMs) });
  }

  /** Applies an event from outside the media clock. */
  #dispatch(event: TurnEvent): void {
    this.#apply(event);
    this.#clock.resume();
  }

  #apply(event: TurnEvent): void {
    for (const effect of this.#machine.handle(event)) this.#carryOut(effect);
  }

  #carryOut(effect: TurnEffect): void {
    if (effect.type === "end-call") this.#finish(effect.reason, effect.closeCode);
    else this.#line?.carryOut(effect);
  }

  #send(message: RuntimeMessage): void {
    this.#socket?.message(message);
    this.#parts.publish(message);
  }

  #noteDropped(samples: number): void {
    if (this.#droppedSamples === 0) {
      this.#parts.log.warn("the audio queue is full: the oldest is dropped");
    }
    this.#droppedSamples += samples;
  }

  #noteSilence(withoutAudioMs: number): void {
    if (this.#silenceNoted) return;
    this.#silenceNoted = true;
    this.#parts.log.info(
      { withoutAudioMs },
      "the client sends no audio, so silence is assumed; stream continuously, silence included, for turns to end where the caller stops",
    );
  }

  #finish(endedReason: string, closeCode: number): void {
    clearTimeout(this.#inProgressTimer);
    const durationMs = Math.round(this.#clock.nowMs);
    this.#over.abort(new Error("the call is over"));
    this.#clock.stop();
    this.#line?.close();
    this.#parts.status("ended", endedReason);
    this.#send({ type: "status-update", status: "ended", endedReason });
    this.#socket?.close(closeCode, endedReason);
    this.#parts.audio?.end();
    this.#resolveEnded({
      endedReason,
      durationMs,
      turnLatencies: this.#line?.turnLatencies ?? [],
      userInterruptions: this.#line?.userInterruptions ?? 0,
    });
    this.#line = undefined;
  }
}
