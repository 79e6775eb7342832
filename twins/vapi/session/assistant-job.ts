/** Runs one job of the assistant: asks the model, runs its tools, and synthesises each sentence as it arrives. */
import { randomUUID } from "node:crypto";
import { wallTime } from "@offhook/platform/base/clock";
import { withDeadline } from "@offhook/platform/base/deadline";
import { type BrainStep, CallFailure, PROVIDER_TIMEOUT_MS, type ToolCall } from "../providers/provider.ts";
import type { AnswerTrace, CallPlan, SessionParts, ToolOutcome } from "./contract.ts";
import type { Conversation } from "./conversation.ts";
import { conversationUpdate, type RuntimeMessage, toolCalls, toolResult } from "./messages.ts";
import type { Job } from "./turn-types.ts";
import { Utterance } from "./utterance.ts";

/** Maximum rounds of tool calls in one reply; a model that needs more is looping. */
const MAX_ROUNDS = 10;
/** Wait after which the client gets `hang`. Wall time, because the model or a tool is slow. */
const HANG_MS = 5_000;
const APOLOGY = "Sorry, something went wrong on my side.";

/** What a job needs from its call. */
export interface JobContext {
  plan: CallPlan;
  parts: SessionParts;
  conversation: Conversation;
  /** Fires when the call is over. */
  callSignal: AbortSignal;
  send(message: RuntimeMessage): void;
  /** Media time. */
  nowMs(): number;
  /** True once per call: whether the assistant may still apologise for a failure. */
  mayApologise(): boolean;
  /** Audio arrived, or the job is done. */
  onProgress(job: AssistantJob): void;
  onToolsStart(job: AssistantJob): void;
  onToolsEnd(job: AssistantJob): void;
  /** A failure for which the vendor ends the call. */
  onCallFailure(endedReason: string): void;
  /** The model's reply has no words. */
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
  /** Wall time of the first request. */
  #askedAt = 0;
  #trace: AnswerTrace | undefined;
  #firstTextAt: number | undefined;
  #firstAudioAt: number | undefined;
  /** The model asked to end the call. */
  wantsEnd = false;

  constructor(job: Job, context: JobContext) {
    this.job = job;
    this.#context = context;
  }

  /** Wall time from the request to the first sentence, and from there to its audio. */
  get latencies(): { askedAt: number; modelMs: number; voiceMs: number } {
    const textAt = this.#firstTextAt ?? this.#startedAt;
    const voiceMs = (this.#firstAudioAt ?? textAt) - textAt;
    return { askedAt: this.#askedAt, modelMs: textAt - this.#startedAt, voiceMs };
  }

  /** Of a reply. */
  get trace(): AnswerTrace | undefined {
    return this.#trace;
  }

  /** Resolves when no request of the job is pending; never rejects. Asks the model after `previous`. */
  async run(previous: Promise<void>): Promise<void> {
    try {
      if (this.job.text === undefined) await this.#reply(previous);
      else this.#speakLine(this.job.text);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#fail(error);
    }
    this.#stopHangTimer();
    this.utterance.complete();
    this.#context.onProgress(this);
  }

  /** Drops the rest of the job. Running tools finish, because they may have acted already. */
  cancel(): void {
    this.#stopHangTimer();
    this.#trace?.abandoned();
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
    this.#askedAt = wallTime();
    this.#trace = this.#context.parts.trace?.beginAnswer();
    this.#startHangTimer();
    await previous;
    this.#abort.signal.throwIfAborted();
    const { conversation } = this.#context;
    conversation.beginReply();
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const calls = await this.#askModel();
        if (calls.length === 0) {
          if (this.utterance.pieceCount === 0 && !this.wantsEnd) this.#context.onWordless(this);
          return;
        }
        await this.#runTools(calls);
        this.#abort.signal.throwIfAborted();
      }
      throw new Error(`the model called tools ${MAX_ROUNDS} times in one reply`);
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
    const said = conversation.addReplyPart(this.utterance, this.utterance.pieceCount);
    const timeoutMs = parts.brain.stepTimeoutMs ?? PROVIDER_TIMEOUT_MS;
    const steps = parts.brain.reply(request, this.#abort.signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await withDeadline(this.#abort.signal, timeoutMs, () => steps.next());
        if (next.done) break;
        await this.#carryOut(next.value, said.toolCalls);
      }
    } catch (error) {
      // Not awaited: a hanging stream may never settle.
      void Promise.resolve(steps.return?.()).catch(() => {});
      throw error;
    } finally {
      said.to = this.utterance.pieceCount;
    }
    return said.toolCalls;
  }

  async #carryOut(step: BrainStep, calls: ToolCall[]): Promise<void> {
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

  /** Sentences are synthesised in parallel and played in order. */
  #synthesise(text: string): void {
    this.#firstTextAt ??= performance.now();
    const { parts, plan } = this.#context;
    const setAudio = this.utterance.add(text);
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
      setAudio(audio);
      if (audio.length > 0) this.#firstAudioAt ??= performance.now();
      if (this.utterance.playable) this.#stopHangTimer();
      this.#context.onProgress(this);
    });
  }

  async #runTools(calls: ToolCall[]): Promise<void> {
    const { plan, parts, conversation, callSignal, send, nowMs } = this.#context;
    send(toolCalls(calls, plan.assistant.model.tools));
    this.#context.onToolsStart(this);
    for (const call of calls) parts.record({ role: "tool_call", call, startMs: nowMs() });
    this.#startHangTimer();
    const outcomes = await parts.runTools(calls, conversation.forModel(), callSignal, this.#trace?.context);
    this.#stopHangTimer();
    if (callSignal.aborted) return;
    conversation.addToolOutcomes(outcomes);
    for (const outcome of outcomes) this.#report(outcome);
    send(conversationUpdate(conversation.all()));
    this.#context.onToolsEnd(this);
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
    this.#context.parts.log.error({ err: error }, "the reply failed: the call continues without it");
    if (this.utterance.pieceCount > 0 || !this.#context.mayApologise()) return;
    this.#context.conversation.addLine(this.utterance);
    this.#synthesise(APOLOGY);
  }

  #startHangTimer(): void {
    if (this.#hung) return;
    clearTimeout(this.#hangTimer);
    this.#hangTimer = setTimeout(() => {
      this.#hung = true;
      this.#context.send({ type: "hang" });
    }, HANG_MS);
  }

  #stopHangTimer(): void {
    clearTimeout(this.#hangTimer);
  }
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

function sentencesOf(text: string): string[] {
  return [...sentences.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence !== "");
}
