/** The parts of a connected call (listener, voice, socket), and which of them carries out each turn effect. */
import type { SpeechDetector } from "@offhook/audio/speech-detector";
import { AssistantVoice } from "./assistant-voice.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { CallPlan, SessionParts, TurnLatency } from "./contract.ts";
import type { Conversation } from "./conversation.ts";
import { type Edge, Listener } from "./listener.ts";
import type { MediaClock } from "./media-clock.ts";
import type { RuntimeMessage } from "./messages.ts";
import type { Job, TurnEffect, TurnEvent } from "./turn-types.ts";
import { UserTurns } from "./user-turns.ts";

export interface LineOptions {
  plan: CallPlan;
  parts: SessionParts;
  conversation: Conversation;
  clock: MediaClock;
  socket: ClientSocket;
  detector: SpeechDetector;
  /** Fires when the call is over. */
  callSignal: AbortSignal;
  send(message: RuntimeMessage): void;
  /** Applies an event; the clock stays as it is. */
  apply(event: TurnEvent): void;
  /** Applies an event and resumes the clock. */
  dispatch(event: TurnEvent): void;
}

export class Line {
  readonly #parts: SessionParts;
  readonly #socket: ClientSocket;
  readonly #listener: Listener;
  readonly #user: UserTurns;
  readonly #assistant: AssistantVoice;
  readonly #send: (message: RuntimeMessage) => void;
  userInterruptions = 0;

  constructor({ detector, apply, dispatch, callSignal, ...options }: LineOptions) {
    const { plan, parts, clock, conversation, socket, send } = options;
    this.#parts = parts;
    this.#socket = socket;
    this.#send = send;
    this.#listener = new Listener({
      detector,
      startMs: clock.nowMs,
      recognition: parts.recognition,
      language: plan.assistant.transcriber.language,
      log: parts.log,
    });
    this.#user = new UserTurns({ plan, parts, conversation, listener: this.#listener, clock, send, apply });
    this.#assistant = new AssistantVoice({
      context: { plan, parts, conversation, callSignal, send, nowMs: () => clock.nowMs },
      clock,
      socket,
      dispatch,
      onToolsStart: () => this.#user.settle(),
    });
  }

  get turnLatencies(): TurnLatency[] {
    return this.#user.latencies;
  }

  /** Takes the caller's next 10 ms. */
  hear(frame: Int16Array): Edge[] {
    return this.#listener.push(frame);
  }

  /** Sends the assistant's next 10 ms. @returns whether there was audio */
  speak(nowMs: number): boolean {
    const playing = this.#assistant.play();
    this.#socket.tick(nowMs);
    return playing;
  }

  muteAssistant(): void {
    this.#assistant.muted = true;
  }

  unmuteAssistant(): void {
    this.#assistant.muted = false;
  }

  carryOut(effect: Exclude<TurnEffect, { type: "end-call" }>): void {
    switch (effect.type) {
      case "speech-update":
        this.#send(effect);
        return;
      case "user-interrupted":
        this.userInterruptions += 1;
        this.#assistant.noteInterruption(effect.job);
        this.#send({ type: "user-interrupted", ...this.#assistant.turnIdOf(effect.job) });
        return;
      case "open-turn":
        this.#user.open(effect.fromMs);
        return;
      case "transcribe":
        this.#user.transcribe(effect.request);
        return;
      case "transcribe-partial":
        this.#user.transcribePartial(effect.turn);
        return;
      case "user-partial":
        this.#user.sendPartial(effect.text);
        return;
      case "close-turn":
        this.#user.close(effect);
        return;
      case "prepare":
        this.#assistant.prepare(effect.job);
        return;
      case "abandon":
        this.#assistant.forget(effect.job);
        return;
      case "start-audio":
        this.#startAudio(effect.job);
        return;
      case "pause-audio":
        this.#assistant.pause();
        return;
      case "resume-audio":
        this.#assistant.resume();
        return;
      case "cut-audio":
        this.#assistant.cut(effect.job);
        return;
      case "assistant-partial":
        this.#assistant.sendPartial();
        return;
      case "assistant-final":
        this.#assistant.sendFinal(effect.job);
        return;
      case "refuse-line":
        this.#parts.log.warn({ text: effect.text }, "too many lines wait to be spoken: ignored");
    }
  }

  /** Records the last turn, and closes everything. */
  close(): void {
    this.#user.settle();
    this.#assistant.forgetAll();
    this.#listener.close();
  }

  #startAudio(job: Job): void {
    const started = this.#assistant.start(job);
    if (started !== undefined) this.#assistant.noteLatency(this.#user.noteAnswer(started));
  }
}
