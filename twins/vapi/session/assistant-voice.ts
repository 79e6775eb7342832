/** Plays the assistant's jobs: prepares them, sends their audio and transcripts, cuts them short, reports their end. */
import { AssistantJob, type JobContext } from "./assistant-job.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { TurnLatency } from "./contract.ts";
import { type MediaClock, SILENT_TICK } from "./media-clock.ts";
import { conversationUpdate, transcript } from "./messages.ts";
import { asksModel, type Job, NORMAL_CLOSURE, type TurnEvent } from "./turn-types.ts";
import { saysAny } from "./words.ts";

export interface AssistantVoiceOptions {
  context: Omit<
    JobContext,
    "onProgress" | "onToolsStart" | "onToolsEnd" | "onCallFailure" | "onWordless" | "mayApologise"
  >;
  clock: MediaClock;
  socket: ClientSocket;
  dispatch(event: TurnEvent): void;
  /** A job's tools are about to run. */
  onToolsStart(): void;
}

/** The job being played. */
interface Speaking {
  job: AssistantJob;
  startMs: number;
  paused: boolean;
  /** Last partial transcript. */
  partial: string;
  /** Last sentence announced. */
  sentence: number;
  latency: TurnLatency | undefined;
}

/** A job that was played, until its final transcript is sent. */
interface Played {
  turnId: string;
  text: string;
  startMs: number;
  endMs: number;
  latency: TurnLatency | undefined;
  interrupted: boolean;
}

export class AssistantVoice {
  readonly #options: AssistantVoiceOptions;
  /** Unfinished jobs by id, each with the release of its clock hold. */
  readonly #jobs = new Map<number, { job: AssistantJob; release(): void }>();
  #lastReply: Promise<void> = Promise.resolve();
  #speaking: Speaking | undefined;
  /** Played jobs whose final transcript was not sent yet. */
  readonly #awaitingFinal = new Map<number, Played>();
  #apologised = false;
  #wordlessNoted = false;
  muted = false;

  constructor(options: AssistantVoiceOptions) {
    this.#options = options;
  }

  prepare(job: Job): void {
    const { context, clock, dispatch, onToolsStart } = this.#options;
    const assistantJob = new AssistantJob(job, {
      ...context,
      mayApologise: () => this.#mayApologise(),
      onProgress: (changed) => this.#checkProgress(changed),
      onToolsStart: () => {
        onToolsStart();
        dispatch({ type: "job-tools", job: job.id, running: true });
      },
      onToolsEnd: () => dispatch({ type: "job-tools", job: job.id, running: false }),
      onCallFailure: (reason) => dispatch({ type: "end", reason, closeCode: NORMAL_CLOSURE }),
      onWordless: ({ job: { turn } }) => this.#noteWordless(turn),
    });
    const { utterance } = assistantJob;
    // The clock waits for the job's audio before it starts and between its sentences.
    const release = clock.hold({ applies: () => !utterance.playable && !utterance.drained });
    this.#jobs.set(job.id, { job: assistantJob, release });
    const run = assistantJob.run(this.#lastReply);
    if (asksModel(job)) this.#lastReply = run;
  }

  /** Plays the job from the next tick on. */
  start(job: Job): AssistantJob | undefined {
    const assistantJob = this.#jobs.get(job.id)?.job;
    if (assistantJob === undefined) return undefined;
    const startMs = this.#options.clock.nowMs;
    this.#speaking = {
      job: assistantJob,
      startMs,
      paused: false,
      partial: "",
      sentence: -1,
      latency: undefined,
    };
    return assistantJob;
  }

  /** Sets the latency of the job that has just started. */
  noteLatency(latency: TurnLatency | undefined): void {
    if (this.#speaking) this.#speaking.latency = latency;
  }

  /** The caller interrupted a job whose audio was cut. */
  noteInterruption(job: Job): void {
    const played = this.#awaitingFinal.get(job.id);
    if (played) played.interrupted = true;
  }

  pause(): void {
    if (this.#speaking) this.#speaking.paused = true;
  }

  resume(): void {
    if (this.#speaking) this.#speaking.paused = false;
  }

  /** Stops the job's audio at once. */
  cut(job: Job): void {
    this.#options.socket.dropSpeech();
    this.#stop(job);
  }

  forget(job: Job): void {
    const known = this.#jobs.get(job.id);
    if (known === undefined) return;
    this.#jobs.delete(job.id);
    known.job.cancel();
    known.release();
  }

  forgetAll(): void {
    for (const { job } of [...this.#jobs.values()]) this.forget(job.job);
  }

  /** The model's id of the reply just played; nothing for a job the model did not write. */
  turnIdOf(job: Job): { turnId?: string } {
    const heard = this.#awaitingFinal.get(job.id);
    return asksModel(job) && heard !== undefined ? { turnId: heard.turnId } : {};
  }

  /** Sends the next 10 ms. @returns whether there was audio */
  play(): boolean {
    const speaking = this.#speaking;
    if (speaking === undefined || speaking.paused) return false;
    const { utterance } = speaking.job;
    const { sentence } = utterance;
    const frame = utterance.play();
    if (frame !== undefined) {
      if (sentence !== speaking.sentence) this.#announceSentence(speaking, sentence);
      this.#options.socket.voice(this.muted ? SILENT_TICK : frame, this.#options.clock.nowMs);
    }
    if (utterance.drained) this.#finish(speaking.job);
    return frame !== undefined;
  }

  sendPartial(): void {
    if (this.#speaking === undefined) return;
    const text = this.#speaking.job.utterance.heard();
    if (text === "" || text === this.#speaking.partial) return;
    this.#speaking.partial = text;
    this.#sendTranscript("partial", text);
  }

  sendFinal(job: Job): void {
    const heard = this.#awaitingFinal.get(job.id);
    this.#awaitingFinal.delete(job.id);
    if (heard === undefined || heard.text === "") return;
    const { conversation, parts, send } = this.#options.context;
    this.#sendTranscript("final", heard.text);
    send(conversationUpdate(conversation.all()));
    const { text, startMs, endMs, interrupted, latency } = heard;
    parts.record({ role: "assistant", text, startMs, endMs, interrupted }, latency);
  }

  #checkProgress(job: AssistantJob): void {
    if (!this.#jobs.has(job.job.id)) return;
    const { utterance } = job;
    // A job whose synthesis failed for every word is a turn without sound: it starts and stops like any other.
    const unspoken = utterance.drained && utterance.pieceCount > 0;
    if (this.#speaking?.job === job) this.#options.clock.resume();
    else if (utterance.playable || unspoken) this.#options.dispatch({ type: "job-ready", job: job.job.id });
    else if (utterance.drained) this.#finish(job);
    else this.#options.clock.resume();
  }

  #finish(job: AssistantJob): void {
    const saidEndCallPhrase = saysAny(
      job.utterance.heard(),
      this.#options.context.plan.assistant.endCallPhrases,
    );
    if (this.#speaking?.job === job) {
      this.#options.socket.endOfSpeech();
      this.#stop(job.job);
    }
    this.#options.dispatch({ type: "job-done", job: job.job.id, saidEndCallPhrase, wantsEnd: job.wantsEnd });
  }

  #stop(job: Job): void {
    if (this.#speaking?.job.job.id === job.id) {
      const { startMs, latency } = this.#speaking;
      const { utterance, turnId } = this.#speaking.job;
      const text = utterance.heard();
      const endMs = this.#options.clock.nowMs;
      this.#awaitingFinal.set(job.id, { turnId, text, startMs, endMs, latency, interrupted: false });
      this.#speaking = undefined;
    }
    this.forget(job);
  }

  #announceSentence(speaking: Speaking, sentence: number): void {
    speaking.sentence = sentence;
    const { job, utterance } = speaking.job;
    const source = asksModel(job) ? "model" : "force-say";
    const text = utterance.said(0, sentence + 1);
    this.#options.context.send({ type: "assistant.speechStarted", text, turn: job.turn, source });
  }

  #sendTranscript(transcriptType: "partial" | "final", text: string): void {
    const { plan, send } = this.#options.context;
    send(transcript(plan.assistant, { role: "assistant", transcriptType, transcript: text }));
  }

  #noteWordless(turn: number): void {
    if (this.#wordlessNoted) return;
    this.#wordlessNoted = true;
    this.#options.context.parts.log.warn(
      { turn },
      "the model answered without a word: the caller hears nothing",
    );
  }

  #mayApologise(): boolean {
    const may = !this.#apologised;
    this.#apologised = true;
    return may;
  }
}
