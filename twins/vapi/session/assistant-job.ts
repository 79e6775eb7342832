/** Carries out one job of the assistant: asks the model, runs its tools, and has each sentence synthesised as it comes. */
import { randomUUID } from "node:crypto";
import { withDeadline } from "@offhook/platform/base/deadline";
import { type BrainStep, CallFailure, PROVIDER_TIMEOUT_MS, type ToolCall } from "../providers/provider.ts";
import type { CallPlan, SessionParts, ToolOutcome } from "./contract.ts";
import type { Conversation } from "./conversation.ts";
import { conversationUpdate, type RuntimeMessage, toolCalls, toolResult } from "./messages.ts";
import type { Job } from "./turn-types.ts";
import { Utterance } from "./utterance.ts";

/** A model that calls tools this often in one reply is going in circles. */
const MOST_ROUNDS = 10;
/** A caller that has waited so long is told by `hang`. Wall time: it is the model or a tool that is slow. */
const HANG_MS = 5_000;
const APOLOGY = "Sorry, something went wrong on my side.";

/** What a job needs of its call. */
export interface JobContext {
  plan: CallPlan;
  parts: SessionParts;
  conversation: Conversation;
  /** Fires when the call is over. */
  callSignal: AbortSignal;
  send(message: RuntimeMessage): void;
  /** Media time. */
  nowMs(): number;
  /** Once a call: whether the assistant may still say that something went wrong. */
  mayApologise(): boolean;
  /** Something about the job has changed: audio has come, or it is done. */
  onProgress(job: AssistantJob): void;
  onTools(job: AssistantJob, running: boolean): void;
  /** The vendor ends a call that this happens to. */
  onCallFailure(endedReason: string): void;
  /** The model has answered, and said nothing. */
  onWordless(job: AssistantJob): void;
}

export class AssistantJob {
  readonly job: Job;
  readonly utterance = new Utterance();
  readonly turnId = randomUUID();
  readonly #context: JobContext;
  readonly #abort = new AbortController();
  #hangTimer: NodeJS.Timeout | undefined;
  #hung = false;
  #startedAt = 0;
  #firstTextAt: number | undefined;
  #firstAudioAt: number | undefined;
  /** The model ended the call. */
  wantsEnd = false;

  constructor(job: Job, context: JobContext) {
    this.job = job;
    this.#context = context;
  }

  /** Wall time from asking to the first sentence, and from there to its audio. */
  get latencies(): { modelMs: number; voiceMs: number } {
    const textAt = this.#firstTextAt ?? this.#startedAt;
    return { modelMs: textAt - this.#startedAt, voiceMs: (this.#firstAudioAt ?? textAt) - textAt };
  }

  /** Resolves when the job asks nothing of anybody any more; never rejects. The model is asked after `previous`. */
  async run(previous: Promise<void>): Promise<void> {
    try {
      if (this.job.text === undefined) await this.#reply(previous);
      else this.#speakLine(this.job.text);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#fail(error);
    }
    this.#quiet();
    this.utterance.complete();
    this.#context.onProgress(this);
  }

  /** Nothing more of it is wanted. Tools that run are left to finish: they may have acted already. */
  cancel(): void {
    this.#quiet();
    this.utterance.close();
    this.#abort.abort(new Error("the reply is no longer wanted"));
  }

  #speakLine(text: string): void {
    this.#startedAt = performance.now();
    this.#context.conversation.addLine(this.utterance);
    for (const sentence of sentencesOf(text)) this.#synthesise(sentence);
  }

  async #reply(previous: Promise<void>): Promise<void> {
    this.#startedAt = performance.now();
    this.#watchForHang();
    await previous;
    this.#abort.signal.throwIfAborted();
    const { conversation } = this.#context;
    conversation.beginReply();
    try {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const calls = await this.#askModel();
        if (calls.length === 0) {
          if (this.utterance.pieceCount === 0 && !this.wantsEnd) this.#context.onWordless(this);
          return;
        }
        await this.#runTools(calls);
        this.#abort.signal.throwIfAborted();
      }
      throw new Error(`the model called tools ${MOST_ROUNDS} times in one reply`);
    } finally {
      conversation.endReply();
    }
  }

  async #askModel(): Promise<ToolCall[]> {
    const { plan, parts, conversation } = this.#context;
    const { model } = plan.assistant;
    const request = {
      simulationId: plan.simulationId,
      model: {
        provider: model.provider,
        model: model.model,
        temperature: model.temperature,
        maxTokens: model.maxTokens,
      },
      conversation: conversation.forModel(),
      tools: model.tools,
    };
    const said = conversation.openSaid(this.utterance, this.utterance.pieceCount);
    const timeoutMs = parts.brain.stepTimeoutMs ?? PROVIDER_TIMEOUT_MS;
    const steps = parts.brain.reply(request, this.#abort.signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await withDeadline(this.#abort.signal, timeoutMs, () => steps.next());
        if (next.done) break;
        await this.#take(next.value, said.toolCalls);
      }
    } catch (error) {
      // The stream may hang for good: it is told to stop, and not waited for.
      void Promise.resolve(steps.return?.()).catch(() => {});
      throw error;
    } finally {
      said.to = this.utterance.pieceCount;
    }
    return said.toolCalls;
  }

  async #take(step: BrainStep, calls: ToolCall[]): Promise<void> {
    switch (step.type) {
      case "say":
        return this.#say(step.text);
      case "call-tools":
        calls.push(...step.calls);
        return;
      case "end-call":
        this.wantsEnd = true;
        return;
    }
  }

  async #say(text: string): Promise<void> {
    if (text.trim() === "") return;
    await this.utterance.room();
    this.#abort.signal.throwIfAborted();
    this.#context.send({ type: "model-output", output: text, turnId: this.turnId });
    this.#context.send({ type: "voice-input", input: text.trim(), turn: this.job.turn });
    this.#synthesise(text.trim());
  }

  /** Sentences are synthesised side by side and heard in order. */
  #synthesise(text: string): void {
    this.#firstTextAt ??= performance.now();
    const { parts, plan } = this.#context;
    const handIn = this.utterance.add(text);
    const timeoutMs = parts.synthesis.timeoutMs ?? PROVIDER_TIMEOUT_MS;
    const speech = withDeadline(this.#abort.signal, timeoutMs, (signal) =>
      parts.synthesis.speak(text, plan.assistant.voice, signal),
    );
    const settled = speech.catch((error: unknown) => {
      if (!this.#abort.signal.aborted)
        parts.log.error({ err: error }, "speech synthesis failed: a sentence is not spoken");
      return new Int16Array(0);
    });
    void settled.then((audio) => {
      handIn(audio);
      if (audio.length > 0) this.#firstAudioAt ??= performance.now();
      if (this.utterance.playable) this.#quiet();
      this.#context.onProgress(this);
    });
  }

  async #runTools(calls: ToolCall[]): Promise<void> {
    const { plan, parts, conversation, callSignal, send, nowMs } = this.#context;
    send(toolCalls(calls, plan.assistant.model.tools));
    this.#context.onTools(this, true);
    for (const call of calls) parts.record({ role: "tool_call", call, startMs: nowMs() });
    this.#watchForHang();
    const outcomes = await parts.runTools(calls, conversation.forModel(), callSignal);
    this.#quiet();
    if (callSignal.aborted) return;
    conversation.addToolOutcomes(outcomes);
    for (const outcome of outcomes) this.#report(outcome);
    send(conversationUpdate(conversation.all()));
    this.#context.onTools(this, false);
  }

  #report(outcome: ToolOutcome): void {
    const { parts, send, nowMs } = this.#context;
    parts.record({ role: "tool_result", outcome, endMs: nowMs() });
    for (const message of toolResult(outcome)) send(message);
  }

  #fail(error: unknown): void {
    if (error instanceof CallFailure) {
      this.#context.onCallFailure(error.endedReason);
      return;
    }
    this.#context.parts.log.error({ err: error }, "the reply failed: the call goes on without it");
    if (this.utterance.pieceCount > 0 || !this.#context.mayApologise()) return;
    this.#context.conversation.addLine(this.utterance);
    this.#synthesise(APOLOGY);
  }

  #watchForHang(): void {
    if (this.#hung) return;
    clearTimeout(this.#hangTimer);
    this.#hangTimer = setTimeout(() => {
      this.#hung = true;
      this.#context.send({ type: "hang" });
    }, HANG_MS);
  }

  #quiet(): void {
    clearTimeout(this.#hangTimer);
  }
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

function sentencesOf(text: string): string[] {
  return [...sentences.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence !== "");
}
