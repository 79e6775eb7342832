/** The assistant's jobs while they last: prepared, heard, cut short, and told of when they are over. */
import { AssistantJob, type JobContext } from "./assistant-job.ts";
import type { ClientSocket } from "./client-socket.ts";
import { type MediaClock, SILENT_TICK } from "./media-clock.ts";
import { conversationUpdate, transcript } from "./messages.ts";
import { asksModel, type Job, NORMAL_CLOSURE, type TurnEvent } from "./turn-types.ts";
import { saysAny } from "./words.ts";

export interface AssistantVoiceOptions {
  context: Omit<JobContext, "onProgress" | "onTools" | "onCallFailure" | "onWordless" | "mayApologise">;
  clock: MediaClock;
  socket: ClientSocket;
  dispatch(event: TurnEvent): void;
  /** A job's tools are about to act. */
  onTools(): void;
}

/** The job being heard. */
interface Speaking {
  job: AssistantJob;
  startMs: number;
  paused: boolean;
  /** Last partial transcript. */
  partial: string;
  /** Last sentence announced. */
  sentence: number;
}

export class AssistantVoice {
  readonly #options: AssistantVoiceOptions;
  /** Jobs that are not over, by id, and what ends the clock's waiting for each. */
  readonly #jobs = new Map<number, { job: AssistantJob; release(): void }>();
  #lastReply: Promise<void> = Promise.resolve();
  #speaking: Speaking | undefined;
  /** Jobs that were heard and whose final transcript is still to come. */
  readonly #heard = new Map<number, { turnId: string; text: string; startMs: number; endMs: number }>();
  #apologised = false;
  #wordlessNoted = false;
  muted = false;

  constructor(options: AssistantVoiceOptions) {
    this.#options = options;
  }

  prepare(job: Job): void {
    const { context, clock, dispatch, onTools } = this.#options;
    const assistantJob = new AssistantJob(job, {
      ...context,
      mayApologise: () => this.#mayApologise(),
      onProgress: (progressed) => this.#progressed(progressed),
      onTools: (_, running) => {
        if (running) onTools();
        dispatch({ type: "job-tools", job: job.id, running });
      },
      onCallFailure: (reason) => dispatch({ type: "end", reason, closeCode: NORMAL_CLOSURE }),
      onWordless: ({ job: { turn } }) => this.#noteWordless(turn),
    });
    const { utterance } = assistantJob;
    // The clock waits for the job's audio before it is heard, and between two sentences of it.
    const release = clock.hold({ applies: () => !utterance.playable && !utterance.drained });
    this.#jobs.set(job.id, { job: assistantJob, release });
    const run = assistantJob.run(this.#lastReply);
    if (asksModel(job)) this.#lastReply = run;
  }

  /** From the next tick on the job is heard. */
  start(job: Job): AssistantJob | undefined {
    const assistantJob = this.#jobs.get(job.id)?.job;
    if (assistantJob === undefined) return undefined;
    const startMs = this.#options.clock.nowMs;
    this.#speaking = { job: assistantJob, startMs, paused: false, partial: "", sentence: -1 };
    return assistantJob;
  }

  pause(): void {
    if (this.#speaking) this.#speaking.paused = true;
  }

  resume(): void {
    if (this.#speaking) this.#speaking.paused = false;
  }

  /** Silence at once. */
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

  /** The model's id for a reply that was just heard; nothing for what was not the model's. */
  turnIdOf(job: Job): { turnId?: string } {
    const heard = this.#heard.get(job.id);
    return asksModel(job) && heard !== undefined ? { turnId: heard.turnId } : {};
  }

  /** Sends the next 10 ms; answers whether there were any. */
  play(): boolean {
    const speaking = this.#speaking;
    if (speaking === undefined || speaking.paused) return false;
    const { utterance } = speaking.job;
    const { sentence } = utterance;
    const frame = utterance.play();
    if (frame !== undefined) {
      if (sentence !== speaking.sentence) this.#announceSentence(speaking, sentence);
      this.#options.socket.voice(this.muted ? SILENT_TICK : frame);
    }
    if (utterance.drained) this.#over(speaking.job);
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
    const heard = this.#heard.get(job.id);
    this.#heard.delete(job.id);
    if (heard === undefined || heard.text === "") return;
    const { conversation, parts, send } = this.#options.context;
    this.#sendTranscript("final", heard.text);
    send(conversationUpdate(conversation.all()));
    const { text, startMs, endMs } = heard;
    parts.record({ role: "assistant", text, startMs, endMs });
  }

  #progressed(job: AssistantJob): void {
    if (!this.#jobs.has(job.job.id)) return;
    const { utterance } = job;
    // Words of which none could be spoken are a turn without sound: it starts and stops like any other.
    const unspoken = utterance.drained && utterance.pieceCount > 0;
    if (this.#speaking?.job === job) this.#options.clock.resume();
    else if (utterance.playable || unspoken) this.#options.dispatch({ type: "job-ready", job: job.job.id });
    else if (utterance.drained) this.#over(job);
    else this.#options.clock.resume();
  }

  #over(job: AssistantJob): void {
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
      const { startMs } = this.#speaking;
      const { utterance, turnId } = this.#speaking.job;
      const text = utterance.heard();
      this.#heard.set(job.id, { turnId, text, startMs, endMs: this.#options.clock.nowMs });
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
