/** One live call: the caller's audio in, turns taken, the assistant's voice and messages out. */
import type { WebSocket } from "ws";
import { createSpeechDetector, type SpeechDetector } from "../../audio/speech-detector.ts";
import { INTERNAL_RATE } from "../providers/provider.ts";
import { AssistantJob } from "./assistant-job.ts";
import { ClientSocket } from "./client-socket.ts";
import type {
  CallPlan,
  CallSession,
  CreateSession,
  EndedCall,
  SessionCommand,
  SessionParts,
  TurnLatency,
} from "./contract.ts";
import { Conversation } from "./conversation.ts";
import { Listener, SPEECH_END_MS, SPEECH_START_MS } from "./listener.ts";
import { type Hold, MediaClock, TICK_SAMPLES } from "./media-clock.ts";
import { assistantStarted, conversationUpdate, type RuntimeMessage, transcript } from "./messages.ts";
import { TurnMachine } from "./turn-machine.ts";
import type { Job, TurnEffect, TurnEvent, UserTurn } from "./turn-types.ts";
import { saysAny } from "./words.ts";

/**
 * The call is in progress so long after the socket opened, and turns are taken from then on. Media time; a client that
 * has sent nothing yet is told by the wall clock.
 */
const IN_PROGRESS_MS = 140;
const NORMAL_CLOSURE = 1000;
const SILENT_FRAME = new Int16Array(TICK_SAMPLES);

export type CreateDetector = () => Promise<SpeechDetector>;

export const createSession: CreateSession = (plan, parts) =>
  createSessionWith(plan, parts, () =>
    createSpeechDetector({ sampleRate: INTERNAL_RATE, startMs: SPEECH_START_MS, endMs: SPEECH_END_MS }),
  );

/** As `createSession`, with another way to find speech. */
export function createSessionWith(
  plan: CallPlan,
  parts: SessionParts,
  createDetector: CreateDetector,
): CallSession {
  return new LiveCall(plan, parts, createDetector);
}

class LiveCall implements CallSession {
  readonly ended: Promise<EndedCall>;
  readonly #plan: CallPlan;
  readonly #parts: SessionParts;
  readonly #createDetector: CreateDetector;
  readonly #machine: TurnMachine;
  readonly #conversation: Conversation;
  readonly #clock: MediaClock;
  readonly #over = new AbortController();
  #resolveEnded: (call: EndedCall) => void = () => {};
  #socket: ClientSocket | undefined;
  #listener: Listener | undefined;
  #inProgressTimer: NodeJS.Timeout | undefined;
  #inProgress = false;
  /** The assistant's jobs that are not over, by id. */
  readonly #jobs = new Map<number, AssistantJob>();
  #lastReply: Promise<void> = Promise.resolve();
  /** The job being heard. */
  #speaking:
    | { job: AssistantJob; startMs: number; paused: boolean; partial: string; sentence: number }
    | undefined;
  /** Jobs that were heard and whose final transcript is still to come. */
  readonly #heardJobs = new Map<number, { text: string; startMs: number; endMs: number }>();
  /** The user's last turn, until it is certain that it does not go on. */
  #lastUserTurn: { said: UserTurn; text: string; closedMs: number; transcriberMs: number } | undefined;
  #customerMuted = false;
  #assistantMuted = false;
  #apologised = false;
  #droppedSamples = 0;
  #userInterruptions = 0;
  readonly #turnLatencies: TurnLatency[] = [];

  constructor(plan: CallPlan, parts: SessionParts, createDetector: CreateDetector) {
    this.#plan = plan;
    this.#parts = parts;
    this.#createDetector = createDetector;
    this.#machine = new TurnMachine(plan.assistant);
    this.#conversation = new Conversation(plan.assistant.model.messages);
    this.#clock = new MediaClock({
      onTick: (frame) => this.#tick(frame),
      onDrop: (samples) => this.#noteDropped(samples),
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  connect(socket: WebSocket): void {
    const { audioFormat, assistant, oddFrames = false } = this.#plan;
    this.#socket = new ClientSocket({
      socket,
      format: audioFormat,
      clientMessages: assistant.clientMessages,
      oddFrames,
      log: this.#parts.log,
      events: {
        onAudio: (audio) => this.#clock.receive(audio),
        onCommand: (command) => this.command(command),
        onLost: (code) =>
          this.#parts.log.warn({ code }, "the client's socket is gone without end-call: the call stays live"),
      },
    });
    this.#clock.start();
    this.#inProgressTimer = setTimeout(() => {
      if (this.#clock.receivedMs === 0) this.#becomeInProgress();
    }, IN_PROGRESS_MS);
    void this.#startListening();
  }

  command(command: SessionCommand): void {
    switch (command.type) {
      case "end-call":
      case "hangup":
        this.end("customer-ended-call");
        return;
      case "say":
        this.#dispatch({
          type: "say",
          text: command.content,
          source: "force-say",
          interruptible: command.interruptionsEnabled,
          cutsIn: command.interruptAssistantEnabled,
          endsCall: command.endCallAfterSpoken,
        });
        return;
      case "add-message":
        this.#conversation.add(command.message);
        this.#send(conversationUpdate(this.#conversation.all()));
        if (command.triggerResponseEnabled) this.#dispatch({ type: "reply-wanted" });
        return;
      case "control":
        this.#control(command.control);
        return;
    }
  }

  end(endedReason: string, closeCode = NORMAL_CLOSURE): void {
    this.#dispatch({ type: "end", reason: endedReason, closeCode });
  }

  #control(control: Extract<SessionCommand, { type: "control" }>["control"]): void {
    switch (control) {
      case "mute-assistant":
      case "unmute-assistant":
        this.#assistantMuted = control === "mute-assistant";
        return;
      case "mute-customer":
      case "unmute-customer":
        this.#customerMuted = control === "mute-customer";
        return;
      case "say-first-message": {
        const { firstMessage: text, firstMessageInterruptionsEnabled: interruptible } = this.#plan.assistant;
        if (text === undefined || text === "") return;
        const say = { text, interruptible, cutsIn: false, endsCall: false };
        this.#dispatch({ type: "say", source: "first-message", ...say });
        return;
      }
    }
  }

  /** Audio waits until the detector is there. */
  async #startListening(): Promise<void> {
    const release = this.#clock.hold({ applies: () => true });
    try {
      const detector = await this.#createDetector();
      if (this.#over.signal.aborted) return detector.close();
      this.#listener = new Listener({
        detector,
        recognition: this.#parts.recognition,
        language: this.#plan.assistant.transcriber.language,
        log: this.#parts.log,
        signal: this.#over.signal,
      });
      this.#dispatch({ type: "opened" });
    } catch (error) {
      this.#parts.log.error({ err: error }, "no speech detector: the call cannot go on");
      this.end("pipeline-error-speech-detector", 1011);
    } finally {
      release();
    }
  }

  #becomeInProgress(): void {
    if (this.#inProgress || this.#machine.ended) return;
    this.#inProgress = true;
    clearTimeout(this.#inProgressTimer);
    this.#parts.status("in-progress");
    this.#send({ type: "status-update", status: "in-progress" });
    this.#send(assistantStarted(this.#plan.assistant));
  }

  /** 10 ms of the call. */
  #tick(frame: Int16Array): void {
    const { nowMs } = this.#clock;
    if (nowMs >= IN_PROGRESS_MS) this.#becomeInProgress();
    for (const edge of this.#listener?.push(this.#customerMuted ? SILENT_FRAME : frame) ?? [])
      this.#apply(edge);
    const playing = this.#play();
    this.#socket?.tick(nowMs);
    if (nowMs >= IN_PROGRESS_MS) this.#apply({ type: "tick", nowMs, playing });
  }

  /** The next 10 ms of the assistant; whether there were any. */
  #play(): boolean {
    const speaking = this.#speaking;
    if (speaking === undefined || speaking.paused) return false;
    const { utterance } = speaking.job;
    const sentence = utterance.sentence;
    const frame = utterance.play();
    if (frame !== undefined && sentence !== speaking.sentence) {
      speaking.sentence = sentence;
      this.#announceSentence(speaking.job, sentence);
    }
    if (frame !== undefined) this.#socket?.voice(this.#assistantMuted ? SILENT_FRAME : frame);
    if (utterance.drained) this.#jobIsOver(speaking.job);
    return frame !== undefined;
  }

  #announceSentence({ job, utterance }: AssistantJob, sentence: number): void {
    const source = job.type === "reply" ? "model" : "force-say";
    const text = utterance.said(0, sentence + 1);
    this.#send({ type: "assistant.speechStarted", text, turn: job.turn, source });
  }

  /** Something happened outside the media clock. */
  #dispatch(event: TurnEvent): void {
    this.#apply(event);
    this.#clock.resume();
  }

  #apply(event: TurnEvent): void {
    for (const effect of this.#machine.handle(event)) this.#carryOut(effect);
  }

  #carryOut(effect: TurnEffect): void {
    switch (effect.type) {
      case "speech-update": {
        const { status, role, turn } = effect;
        this.#send({ type: "speech-update", status, role, turn });
        return;
      }
      case "user-interrupted":
        this.#userInterruptions += 1;
        this.#send({ type: "user-interrupted" });
        return;
      case "open-turn":
        this.#settleUserTurn();
        this.#listener?.open(effect.fromMs);
        return;
      case "reopen-turn":
        return;
      case "hear":
        this.#hear(effect.request);
        return;
      case "hear-so-far":
        this.#hearSoFar(effect.turn);
        return;
      case "user-partial":
        this.#sendTranscript("user", "partial", effect.text);
        return;
      case "close-turn":
        this.#closeTurn(effect);
        return;
      case "prepare":
        this.#prepare(effect.job);
        return;
      case "abandon":
        this.#forget(effect.job);
        return;
      case "start-audio":
        this.#startAudio(effect.job);
        return;
      case "pause-audio":
      case "resume-audio":
        if (this.#speaking) this.#speaking.paused = effect.type === "pause-audio";
        return;
      case "cut-audio":
        this.#socket?.dropSpeech();
        this.#stopAudio(effect.job);
        return;
      case "assistant-partial":
        this.#sendAssistantPartial();
        return;
      case "assistant-final":
        this.#sendAssistantFinal(effect.job);
        return;
      case "end-call":
        this.#finish(effect.reason, effect.closeCode);
        return;
    }
  }

  #hear(request: number): void {
    this.#whileHeld({ applies: () => true }, async () => {
      const text = (await this.#listener?.hear()) ?? null;
      return { type: "heard", request, text };
    });
  }

  #hearSoFar(turn: number): void {
    this.#whileHeld({ applies: () => true }, async () => {
      const text = (await this.#listener?.hearSoFar()) ?? null;
      return { type: "heard-so-far", turn, text };
    });
  }

  #whileHeld(hold: Hold, work: () => Promise<TurnEvent>): void {
    const release = this.#clock.hold(hold);
    void work()
      .then((event) => this.#apply(event))
      .finally(release);
  }

  #closeTurn({ said, text, again, closedMs }: Extract<TurnEffect, { type: "close-turn" }>): void {
    if (text === null) {
      if (!again) this.#listener?.settle();
      return;
    }
    this.#lastUserTurn = { said, text, closedMs, transcriberMs: this.#listener?.transcriberMs ?? 0 };
    this.#conversation.addUserTurn(said.turn, text);
    this.#send(conversationUpdate(this.#conversation.all()));
    this.#sendTranscript("user", "final", text);
  }

  /** The user's last turn is over for good. */
  #settleUserTurn(): void {
    if (this.#lastUserTurn === undefined) return;
    const { said, text } = this.#lastUserTurn;
    this.#lastUserTurn = undefined;
    this.#parts.record({ role: "user", text, startMs: said.startMs, endMs: said.endMs });
  }

  #prepare(job: Job): void {
    const assistantJob = new AssistantJob(job, {
      plan: this.#plan,
      parts: this.#parts,
      conversation: this.#conversation,
      callSignal: this.#over.signal,
      send: (message) => this.#send(message),
      nowMs: () => this.#clock.nowMs,
      mayApologise: () => {
        const may = !this.#apologised;
        this.#apologised = true;
        return may;
      },
      onProgress: (progressed) => this.#jobProgressed(progressed),
      onTools: (acting, running) => {
        if (running) this.#settleUserTurn();
        this.#dispatch({ type: "job-tools", job: acting.job.id, running });
      },
    });
    this.#jobs.set(job.id, assistantJob);
    const { utterance } = assistantJob;
    const release = this.#clock.hold({
      applies: () => this.#jobs.has(job.id) && !utterance.playable && !utterance.drained,
    });
    const run = assistantJob.run(this.#lastReply).finally(release);
    if (job.type === "reply") this.#lastReply = run;
  }

  #jobProgressed(job: AssistantJob): void {
    if (!this.#jobs.has(job.job.id)) return;
    if (job.utterance.playable) this.#dispatch({ type: "job-ready", job: job.job.id });
    else if (job.utterance.drained && this.#speaking?.job !== job) this.#jobIsOver(job);
    this.#clock.resume();
  }

  #jobIsOver(job: AssistantJob): void {
    if (this.#speaking?.job === job) this.#socket?.endOfSpeech();
    const saidEndCallPhrase = saysAny(job.utterance.heard(), this.#plan.assistant.endCallPhrases);
    if (this.#speaking?.job === job) this.#stopAudio(job.job);
    this.#dispatch({ type: "job-done", job: job.job.id, saidEndCallPhrase, wantsEnd: job.wantsEnd });
  }

  #startAudio(job: Job): void {
    const assistantJob = this.#jobs.get(job.id);
    if (assistantJob === undefined) return;
    this.#noteLatency(assistantJob);
    this.#settleUserTurn();
    this.#listener?.settle();
    this.#speaking = {
      job: assistantJob,
      startMs: this.#clock.nowMs,
      paused: false,
      partial: "",
      sentence: -1,
    };
  }

  #stopAudio(job: Job): void {
    if (this.#speaking?.job.job.id === job.id) {
      const { startMs } = this.#speaking;
      const text = this.#speaking.job.utterance.heard();
      this.#heardJobs.set(job.id, { text, startMs, endMs: this.#clock.nowMs });
      this.#speaking = undefined;
    }
    this.#forget(job);
  }

  #forget(job: Job): void {
    this.#jobs.get(job.id)?.cancel();
    this.#jobs.delete(job.id);
  }

  #sendAssistantPartial(): void {
    if (this.#speaking === undefined) return;
    const text = this.#speaking.job.utterance.heard();
    if (text === "" || text === this.#speaking.partial) return;
    this.#speaking.partial = text;
    this.#sendTranscript("assistant", "partial", text);
  }

  #sendAssistantFinal(job: Job): void {
    const heard = this.#heardJobs.get(job.id);
    this.#heardJobs.delete(job.id);
    if (heard === undefined || heard.text === "") return;
    this.#sendTranscript("assistant", "final", heard.text);
    this.#send(conversationUpdate(this.#conversation.all()));
    this.#parts.record({ role: "assistant", ...heard });
  }

  /** Endpointing counts in media time, model, voice and transcriber in wall time, the whole in audio received. */
  #noteLatency({ job, latencies }: AssistantJob): void {
    if (job.type !== "reply" || job.answers === undefined || this.#lastUserTurn === undefined) return;
    const { said, closedMs, transcriberMs } = this.#lastUserTurn;
    this.#turnLatencies.push({
      modelLatency: Math.round(latencies.modelMs),
      voiceLatency: Math.round(latencies.voiceMs),
      transcriberLatency: Math.round(transcriberMs),
      endpointingLatency: Math.round(closedMs - said.endMs),
      turnLatency: Math.round(this.#clock.receivedMs - said.endMs),
    });
  }

  #sendTranscript(role: "user" | "assistant", transcriptType: "partial" | "final", text: string): void {
    this.#send(transcript(this.#plan.assistant, { role, transcriptType, transcript: text }));
  }

  #send(message: RuntimeMessage): void {
    this.#socket?.message(message);
    this.#parts.publish(message);
  }

  #noteDropped(samples: number): void {
    if (this.#droppedSamples === 0)
      this.#parts.log.warn("audio comes faster than it can be worked on: dropping the oldest");
    this.#droppedSamples += samples;
  }

  #finish(endedReason: string, closeCode: number): void {
    this.#settleUserTurn();
    clearTimeout(this.#inProgressTimer);
    this.#over.abort(new Error("the call is over"));
    const durationMs = Math.round(this.#clock.nowMs);
    this.#clock.stop();
    for (const { job } of this.#jobs.values()) this.#forget(job);
    this.#listener?.close();
    this.#parts.status("ended", endedReason);
    this.#send({ type: "status-update", status: "ended", endedReason });
    this.#socket?.close(closeCode, endedReason);
    this.#resolveEnded({
      endedReason,
      durationMs,
      turnLatencies: this.#turnLatencies,
      userInterruptions: this.#userInterruptions,
    });
  }
}
