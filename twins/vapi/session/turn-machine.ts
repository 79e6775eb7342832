/**
 * Who may speak when. Events in, effects out: no socket, no timer, no audio, and the only time is that of the events.
 * The user's side and the assistant's side are a state machine each; this class lets them meet.
 */
import { AssistantSide } from "./assistant-side.ts";
import { type Job, NORMAL_CLOSURE, type TurnEffect, type TurnEvent, type TurnPlan } from "./turn-types.ts";
import { UserSide } from "./user-side.ts";
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
  /** The latest turn of the user that is over and is answered. */
  #lastAnswered: number | undefined;
  /** An assistant that waits for the user answers with this until it has been heard. */
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

  /** Takes one event; answers what is to be done, in order. After `end-call` nothing more is answered. */
  handle(event: TurnEvent): TurnEffect[] {
    if (this.#ended) return [];
    this.#take(event);
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #take(event: TurnEvent): void {
    switch (event.type) {
      case "opened":
        this.#open();
        return;
      case "tick":
        this.#tick(event.nowMs, event.playing);
        return;
      case "speech-started":
        this.#speechStarted(event.atMs);
        return;
      case "speech-ended":
        this.#user.pause(event.atMs);
        return;
      case "heard":
        this.#heard(event.request, event.text);
        return;
      case "heard-so-far":
        this.#heardSoFar(event.turn, event.text);
        return;
      case "job-ready":
        this.#assistant.ready(event.job);
        return;
      case "job-tools":
        this.#assistant.toolsRun(event.job, event.running);
        return;
      case "job-done":
        this.#jobDone(event);
        return;
      case "say":
        this.#say(event);
        return;
      case "reply-wanted":
        this.#enqueueModelReply(this.#nowMs, true);
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
        this.#enqueueModelReply(0, this.#plan.firstMessageInterruptionsEnabled);
    }
  }

  /** @param source a greeting at the start is heard even while the user speaks; one a client asks for waits */
  #greet(source: "first-message" | "force-say"): void {
    const text = firstMessageOf(this.#plan);
    if (text === undefined) return;
    const interruptible = this.#plan.firstMessageInterruptionsEnabled;
    this.#assistant.enqueueLine({ source, text, interruptible, endsCall: undefined });
  }

  #enqueueModelReply(notBeforeMs: number, interruptible: boolean): void {
    this.#assistant.enqueueReply({ answers: undefined, notBeforeMs, interruptible, text: undefined });
  }

  #tick(nowMs: number, playing: boolean): void {
    this.#nowMs = nowMs;
    this.#user.tick(nowMs, this.#listensForWords());
    this.#closeTurnIfOver();
    this.#user.announceStop(nowMs);
    this.#bargeInByVoice();
    this.#assistant.tick(nowMs, playing, this.#user.quiet);
    this.#assistant.speakIfAllowed(nowMs, this.#user.quiet);
    this.#endIfTimeIsUp();
  }

  #speechStarted(atMs: number): void {
    const answered = this.#assistant.inaudibleReply();
    if (this.#user.quiet && answered?.turn === this.#lastTurn) {
      this.#assistant.abandon();
      this.#user.reopen(answered, atMs);
      return;
    }
    if (this.#user.quiet) this.#lastTurn += 1;
    this.#user.speak(this.#lastTurn, atMs, this.#assistant.audible);
    this.#assistant.pauseForUser();
  }

  #heard(request: number, text: string | null): void {
    if (!this.#user.heard(request, text)) return;
    if (text !== null) this.#bargeInByWords(text);
    this.#closeTurnIfOver();
  }

  #heardSoFar(turn: number, text: string | null): void {
    if (text !== null && this.#user.heardSoFar(turn, text)) this.#bargeInByWords(text);
  }

  #closeTurnIfOver(): void {
    const closed = this.#user.closeIfOver(this.#nowMs);
    // The model is asked about text only: noise, or speech nobody understood, is answered by silence.
    if (closed === undefined || (closed.text === null && !closed.again)) return;
    this.#silentSinceMs = this.#nowMs;
    // "Okay" while the assistant speaks says: go on. It is no turn to answer.
    const onlyAcknowledges = isOnly(closed.text ?? "", this.#plan.stopSpeakingPlan.acknowledgementPhrases);
    if (closed.overAssistant && onlyAcknowledges) return;
    this.#lastAnswered = closed.said.turn;
    const notBeforeMs = closed.said.endMs + this.#plan.startSpeakingPlan.waitSeconds * 1000;
    const text = this.#firstAnswer;
    const interruptible = text === undefined || this.#plan.firstMessageInterruptionsEnabled;
    this.#assistant.enqueueReply({ answers: closed.said, notBeforeMs, interruptible, text });
  }

  /** Words decide about barge-in only where the plan counts them; otherwise the voice itself does. */
  #listensForWords(): boolean {
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
    if (!this.#listensForWords() || !this.#user.overAssistant) return;
    const { numWords, acknowledgementPhrases, interruptionPhrases } = this.#plan.stopSpeakingPlan;
    if (saysAny(text, interruptionPhrases)) {
      this.#interrupt();
      return;
    }
    if (isOnly(text, acknowledgementPhrases)) return;
    if (wordsOf(text).length >= numWords) this.#interrupt();
  }

  #interrupt(): void {
    this.#user.hasInterrupted();
    this.#assistant.interrupt(this.#nowMs + this.#plan.stopSpeakingPlan.backoffSeconds * 1000);
    this.#silentSinceMs = this.#nowMs;
  }

  #jobDone({ job: id, saidEndCallPhrase, wantsEnd }: Extract<TurnEvent, { type: "job-done" }>): void {
    const job = this.#assistant.done(id, this.#nowMs);
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
    if (cutsIn) this.#assistant.cutInWith(line);
    else this.#assistant.enqueueLine(line);
  }

  /** What the assistant says on its own belongs to the turn it last answered; before any, it is the first itself. */
  #currentTurn(): number {
    this.#lastTurn = Math.max(this.#lastTurn, 0);
    return this.#lastAnswered ?? 0;
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
