/**
 * Decides who may speak when. Events in, effects out: no socket, no timer, no audio; time is the time of the events.
 * The user's side and the assistant's side are a state machine each; this class coordinates the two.
 */
import { AssistantSide } from "./assistant-side.ts";
import { type Job, NORMAL_CLOSURE, type TurnEffect, type TurnEvent, type TurnPlan } from "./turn-types.ts";
import { BARGE_IN_PARTIAL_MS, PARTIAL_MS, UserSide } from "./user-side.ts";
import { isOnly, saysAny, wordsOf } from "./words.ts";

export class TurnMachine {
  readonly #plan: TurnPlan;
  readonly #user: UserSide;
  readonly #assistant: AssistantSide;
  #effects: TurnEffect[] = [];
  #nowMs = 0;
  /** Since when nobody has said anything. */
  #silentSinceMs = 0;
  #lastTurn = -1;
  /** The latest user turn that ended and got an answer. */
  #lastAnsweredTurn: number | undefined;
  /** The first message of an assistant that waits for the user: it answers with this until the user has heard it. */
  #firstAnswer: string | undefined;
  #ended = false;

  constructor(plan: TurnPlan) {
    this.#plan = plan;
    if (plan.firstMessageMode === "assistant-waits-for-user") this.#firstAnswer = firstMessageOf(plan);
    const emit = (effect: TurnEffect) => {
      if (effect.type === "start-audio" && isFirstAnswer(effect.job)) this.#firstAnswer = undefined;
      this.#effects.push(effect);
    };
    this.#user = new UserSide(plan.startSpeakingPlan.transcriptionEndpointingPlan, emit);
    this.#assistant = new AssistantSide(emit, () => this.#currentTurn());
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Handles one event. @returns the effects to carry out, in order; none after `end-call` */
  handle(event: TurnEvent): TurnEffect[] {
    if (this.#ended) return [];
    this.#dispatch(event);
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #dispatch(event: TurnEvent): void {
    switch (event.type) {
      case "opened":
        this.#open();
        return;
      case "tick":
        this.#tick(event);
        return;
      case "speech-started":
        this.#startSpeech(event.atMs);
        return;
      case "speech-ended":
        this.#user.pause(event.atMs);
        return;
      case "transcribed":
        this.#takeTranscript(event.request, event.text);
        return;
      case "partial-transcribed":
        this.#takePartialTranscript(event.turn, event.text);
        return;
      case "job-ready":
        this.#assistant.ready(event.job);
        return;
      case "job-tools":
        if (event.running) this.#assistant.beginTools(event.job);
        else this.#assistant.endTools(event.job);
        return;
      case "job-done":
        this.#finishJob(event);
        return;
      case "say":
        this.#say(event);
        return;
      case "reply-wanted":
        this.#enqueueModelReply({ notBeforeMs: this.#nowMs, interruptible: true });
        return;
      case "say-first-message":
        this.#firstAnswer = undefined;
        this.#greet("force-say");
        return;
      case "end":
        this.#end(event.reason, event.closeCode);
        return;
    }
  }

  #open(): void {
    switch (this.#plan.firstMessageMode) {
      case "assistant-waits-for-user":
        return;
      case "assistant-speaks-first":
        this.#greet("first-message");
        return;
      case "assistant-speaks-first-with-model-generated-message":
        this.#enqueueModelReply({
          notBeforeMs: 0,
          interruptible: this.#plan.firstMessageInterruptionsEnabled,
        });
    }
  }

  /** @param source `first-message` is spoken even over the user; a greeting that a client asks for waits its turn */
  #greet(source: "first-message" | "force-say"): void {
    const text = firstMessageOf(this.#plan);
    if (text === undefined) return;
    const interruptible = this.#plan.firstMessageInterruptionsEnabled;
    this.#assistant.enqueueLine({ source, text, interruptible, endsCall: undefined });
  }

  #enqueueModelReply(timing: { notBeforeMs: number; interruptible: boolean }): void {
    this.#assistant.enqueueReply({ answers: undefined, text: undefined, ...timing });
  }

  #tick({ nowMs, playing }: Extract<TurnEvent, { type: "tick" }>): void {
    this.#nowMs = nowMs;
    this.#user.tick(nowMs, this.#countsWords() ? BARGE_IN_PARTIAL_MS : PARTIAL_MS);
    this.#closeTurnIfOver();
    this.#user.announceStop(nowMs);
    this.#bargeInByVoice();
    const userIsQuiet = this.#user.quiet;
    this.#assistant.tick({ nowMs, playing, userIsQuiet });
    this.#assistant.speakIfAllowed({ nowMs, userIsQuiet });
    this.#endIfTimeIsUp();
  }

  #startSpeech(atMs: number): void {
    const answered = this.#assistant.revocableReply();
    if (this.#user.quiet && answered?.turn === this.#lastTurn) {
      this.#assistant.abandon();
      this.#user.reopen(answered, atMs);
      return;
    }
    if (this.#user.quiet) this.#lastTurn += 1;
    this.#user.speak({ turn: this.#lastTurn, atMs, overlapsAssistant: this.#assistant.audible });
    this.#assistant.pauseForUser();
  }

  #takeTranscript(request: number, text: string | null): void {
    if (!this.#user.takeTranscript(request, text)) return;
    if (text !== null) this.#bargeInByWords(text);
    this.#closeTurnIfOver();
  }

  #takePartialTranscript(turn: number, text: string | null): void {
    if (text !== null && this.#user.takePartial(turn, text)) this.#bargeInByWords(text);
  }

  #closeTurnIfOver(): void {
    const closed = this.#user.closeIfOver(this.#nowMs);
    // Only text reaches the model: noise and unrecognised speech get no answer.
    if (closed === undefined || (closed.text === null && !closed.reopened)) return;
    this.#silentSinceMs = this.#nowMs;
    // "Okay" while the assistant speaks is a backchannel, not a turn to answer.
    const onlyAcknowledges = isOnly(closed.text ?? "", this.#plan.stopSpeakingPlan.acknowledgementPhrases);
    if (closed.overlapsAssistant && onlyAcknowledges) return;
    this.#lastAnsweredTurn = closed.said.turn;
    const notBeforeMs = closed.said.endMs + this.#plan.startSpeakingPlan.waitSeconds * 1000;
    const text = this.#firstAnswer;
    const interruptible = text === undefined || this.#plan.firstMessageInterruptionsEnabled;
    this.#assistant.enqueueReply({ answers: closed.said, notBeforeMs, interruptible, text });
  }

  /** Whether barge-in needs words: where the plan counts none, voice activity alone interrupts. */
  #countsWords(): boolean {
    return this.#assistant.interruptible && this.#plan.stopSpeakingPlan.numWords > 0;
  }

  #bargeInByVoice(): void {
    if (!this.#assistant.interruptible || this.#plan.stopSpeakingPlan.numWords > 0) return;
    const speakingSinceMs = this.#user.speakingSinceMs;
    if (speakingSinceMs === undefined) return;
    const overlapMs = this.#nowMs - Math.max(speakingSinceMs, this.#assistant.speakingSinceMs);
    if (overlapMs >= this.#plan.stopSpeakingPlan.voiceSeconds * 1000) this.#interrupt();
  }

  #bargeInByWords(text: string): void {
    if (!this.#countsWords() || !this.#user.overlapsAssistant) return;
    const { numWords, acknowledgementPhrases, interruptionPhrases } = this.#plan.stopSpeakingPlan;
    if (saysAny(text, interruptionPhrases)) {
      this.#interrupt();
      return;
    }
    if (isOnly(text, acknowledgementPhrases)) return;
    if (wordsOf(text).length >= numWords) this.#interrupt();
  }

  #interrupt(): void {
    this.#user.noteInterruption();
    this.#assistant.interrupt(this.#nowMs + this.#plan.stopSpeakingPlan.backoffSeconds * 1000);
    this.#silentSinceMs = this.#nowMs;
  }

  #finishJob({ job: id, saidEndCallPhrase, wantsEnd }: Extract<TurnEvent, { type: "job-done" }>): void {
    const job = this.#assistant.finishJob(id, this.#nowMs);
    if (job === undefined) return;
    this.#silentSinceMs = this.#nowMs;
    if (job.type === "line" && job.endsCall !== undefined) {
      this.#end(job.endsCall, NORMAL_CLOSURE);
      return;
    }
    if (saidEndCallPhrase) {
      this.#end("assistant-said-end-call-phrase", NORMAL_CLOSURE);
      return;
    }
    if (wantsEnd) {
      this.#endByAssistant();
      return;
    }
    this.#assistant.prepareNext();
  }

  #endByAssistant(): void {
    const reason = "assistant-ended-call";
    const text = this.#plan.endCallMessage;
    if (text === undefined || text === "") {
      this.#end(reason, NORMAL_CLOSURE);
      return;
    }
    this.#assistant.clearQueue();
    this.#assistant.enqueueLine({ source: "end-call-message", text, interruptible: false, endsCall: reason });
  }

  #say({ text, interruptible, cutsIn, endsCall }: Extract<TurnEvent, { type: "say" }>): void {
    const line = {
      source: "force-say" as const,
      text,
      interruptible,
      endsCall: endsCall ? "assistant-ended-call-after-message-spoken" : undefined,
    };
    if (cutsIn) this.#assistant.interruptWith(line);
    else this.#assistant.enqueueLine(line);
  }

  /** What the assistant says on its own belongs to the turn it last answered; before any, it is the first itself. */
  #currentTurn(): number {
    this.#lastTurn = Math.max(this.#lastTurn, 0);
    return this.#lastAnsweredTurn ?? 0;
  }

  #endIfTimeIsUp(): void {
    if (this.#nowMs >= this.#plan.maxDurationSeconds * 1000) {
      this.#end("exceeded-max-duration", NORMAL_CLOSURE);
      return;
    }
    const silent = this.#user.quiet && this.#assistant.idle;
    if (silent && this.#nowMs - this.#silentSinceMs >= this.#plan.silenceTimeoutSeconds * 1000) {
      this.#end("silence-timed-out", NORMAL_CLOSURE);
    }
  }

  #end(reason: string, closeCode: number): void {
    if (this.#ended) return;
    this.#user.finish(this.#nowMs);
    this.#assistant.finish();
    this.#effects.push({ type: "end-call", reason, closeCode });
    this.#ended = true;
  }
}

const NOTHING: TurnEffect[] = [];

/** The assistant's first message, unless there are no words in it. */
function firstMessageOf({ firstMessage }: TurnPlan): string | undefined {
  return firstMessage === undefined || firstMessage.trim() === "" ? undefined : firstMessage;
}

function isFirstAnswer(job: Job): boolean {
  return job.type === "reply" && job.text !== undefined;
}
