/**
 * One simulated call: dials, sends 20 ms frames without pause, listens, acts, and reports. The audio sent is the clock, so
 * a call is the same at any speed.
 */
import { CALLER_RATE, msToSamples, samplesToBytes, samplesToMs } from "@offhook/audio/pcm";
import {
  CALL_LIMITS,
  type CallEvent,
  type CallLimits,
  type CallOptions,
  type CallReport,
  type CallTurn,
  type Outcome,
} from "./call-report.ts";
import { CallSpans } from "./call-spans.ts";
import { type CallerAction, Dialogue, type SayStep } from "./dialogue.ts";
import { type CalleeTurn, Hearing } from "./hearing.ts";
import { Line, type LineEnd } from "./line.ts";
import { FRAME_SAMPLES, Mouth, type SpokenAudio } from "./mouth.ts";
import { Pacer } from "./pacer.ts";
import { PlaybackClock } from "./playback-clock.ts";
import { CallRecorder } from "./recorder.ts";
import { describeStep } from "./steps.ts";

/** A callee that closes after sending nothing for this long in the middle of its turn had stalled. */
const CLOSED_IN_STALL_MS = 10_000;

/** Places one call, and begins its trace; resolves when it is over. Rejects only when the recording cannot be written. */
export async function placeCall({ traced, ...options }: CallOptions): Promise<CallReport> {
  if (!traced?.telemetry?.isOn) return runCall(options);
  const spans = new CallSpans(traced.telemetry, { scenario: traced.scenario, speed: options.speed ?? 1 });
  let report: CallReport | undefined;
  try {
    report = await runCall({
      ...options,
      headers: { ...spans.headers, ...options.headers },
      onEvent: (event) => {
        spans.note(event);
        options.onEvent?.(event);
      },
    });
    return { ...report, traceId: spans.traceId };
  } finally {
    spans.end(report);
  }
}

async function runCall(options: CallOptions): Promise<CallReport> {
  const hearing = await Hearing.create();
  try {
    const recorder =
      options.recordingFile === undefined ? undefined : await CallRecorder.open(options.recordingFile);
    const report = await new Call(options, hearing, recorder).run();
    await recorder?.close();
    return report;
  } finally {
    hearing.close();
  }
}

/** Why a call ended; the first reason stands. */
interface Verdict {
  outcome: Outcome;
  endedBy: "caller" | "callee";
  reason: string;
}

class Call {
  readonly #options: CallOptions;
  readonly #limits: CallLimits;
  readonly #hearing: Hearing;
  readonly #recorder: CallRecorder | undefined;
  readonly #mouth = new Mouth();
  readonly #dialogue: Dialogue;
  readonly #pacer: Pacer;
  readonly #playback: PlaybackClock;
  readonly #turns: CallTurn[] = [];
  #line: Line | undefined;
  #dialledAt = 0;
  /** The caller's clock. */
  #sentSamples = 0;
  /** The utterance being said. */
  #saying: SayStep | undefined;
  #calleeTurn: Extract<CallTurn, { speaker: "callee" }> | undefined;
  /** End of the caller's last utterance, until the callee answers it. */
  #unansweredSince: number | undefined;
  #setupMs: number | null = null;
  #lastReceivedWallMs = 0;
  #lastSentWallMs = 0;
  #verdict: Verdict | undefined;

  constructor(options: CallOptions, hearing: Hearing, recorder: CallRecorder | undefined) {
    this.#options = options;
    this.#limits = { ...CALL_LIMITS, ...options.limits };
    this.#hearing = hearing;
    this.#recorder = recorder;
    this.#dialogue = new Dialogue(options.plan);
    const { speed = 1, frames } = options;
    this.#pacer = new Pacer({
      speed,
      sendFrame: () => this.#sendFrame(),
      onTick: () => this.#checkLimits(),
      ...(frames ? { onFrame: (latenessMs) => frames.onSent(latenessMs) } : {}),
    });
    this.#playback = new PlaybackClock(speed);
  }

  async run(): Promise<CallReport> {
    const { url, framing, headers = {}, signal } = this.#options;
    const hangUp = () => this.#finish(this.#endedByCaller());
    this.#dialledAt = performance.now();
    const end = await new Promise<LineEnd>((resolve) => {
      this.#line = new Line(
        { url, framing, headers, connectTimeoutMs: this.#limits.connectTimeoutMs },
        {
          onOpen: () => {
            this.#lastSentWallMs = performance.now();
            this.#pacer.start();
          },
          onAudio: (bytes) => this.#hear(bytes),
          onEndRequest: () => this.#finish(this.#endedByCallee("the callee ended the call")),
          onViolation: (what) =>
            this.#finish({ outcome: "protocol_violation", endedBy: "caller", reason: what }),
          onEnd: resolve,
        },
      );
      if (signal?.aborted) hangUp();
      else signal?.addEventListener("abort", hangUp, { once: true });
    });
    signal?.removeEventListener("abort", hangUp);
    this.#pacer.stop();
    this.#verdict ??= this.#verdictOf(end);
    this.#closeTurns();
    return this.#report(end, this.#verdict);
  }

  /** One tick of the microphone. */
  #sendFrame(): boolean {
    const line = this.#line;
    if (line === undefined || line.waitingBytes > this.#limits.waitingBytes) return false;
    if (this.#isTooLong) this.#finish(this.#heardNothing ?? this.#timedOut());
    else this.#act();
    if (this.#verdict !== undefined) return false;
    const { frame, spoken } = this.#mouth.nextFrame();
    line.send(samplesToBytes(frame));
    this.#recorder?.writeFrame(frame);
    this.#sentSamples += FRAME_SAMPLES;
    this.#lastSentWallMs = performance.now();
    if (spoken !== undefined) this.#finishUtterance({ ...spoken, cutOff: false });
    return true;
  }

  #act(): void {
    const action = this.#dialogue.decide(this.#sentSamples, this.#hearing.turn);
    if (action?.type === "say") this.#say(action);
    if (action?.type === "hang-up") {
      const spoken = this.#mouth.stop();
      if (spoken !== undefined) this.#finishUtterance({ ...spoken, cutOff: true });
      this.#finish(this.#endedByCaller());
    }
  }

  #say({ step, interrupting }: Extract<CallerAction, { type: "say" }>): void {
    this.#saying = step;
    this.#mouth.say(step.utterance.pcm, this.#sentSamples);
    if (interrupting && this.#calleeTurn !== undefined) this.#calleeTurn.interrupted = true;
    const atMs = toMs(this.#sentSamples);
    this.#emit({ type: "caller-speaks", text: step.utterance.text, atMs, interrupting });
  }

  #finishUtterance({ startSamples, endSamples, cutOff }: SpokenAudio & { cutOff: boolean }): void {
    if (this.#saying === undefined) return;
    const { name: sample, text } = this.#saying.utterance;
    this.#saying = undefined;
    this.#unansweredSince = endSamples;
    this.#dialogue.noteSpeechEnd(endSamples);
    const turn = {
      speaker: "caller",
      sample,
      text,
      startMs: toMs(startSamples),
      endMs: toMs(endSamples),
      cutOff,
    } as const;
    this.#turns.push(turn);
    this.#emit({ type: "caller-spoke", turn });
  }

  #hear(bytes: Uint8Array): void {
    if (this.#verdict !== undefined) return;
    this.#lastReceivedWallMs = performance.now();
    if (this.#setupMs === null) {
      this.#setupMs = Math.round(this.#lastReceivedWallMs - this.#dialledAt);
      this.#emit({ type: "answered", setupMs: this.#setupMs });
    }
    const { audio, events } = this.#hearing.push(bytes, this.#sentSamples);
    this.#recorder?.bufferCallee(audio);
    const { frames } = this.#options;
    if (frames !== undefined) {
      const latenessMs = this.#playback.push(audio, this.#lastReceivedWallMs);
      if (latenessMs !== undefined) frames.onHeard(latenessMs);
    }
    for (const event of events) {
      if (event.type === "started") this.#calleeStarts(event.turn);
      else this.#calleeCommits(event.turn);
    }
  }

  #calleeStarts(turn: CalleeTurn): void {
    const since = this.#unansweredSince;
    const answers = since !== undefined && turn.startSamples >= since;
    const responseMs = answers ? toMs(turn.startSamples - since) : null;
    if (answers) this.#unansweredSince = undefined;
    const startMs = toMs(turn.startSamples);
    this.#calleeTurn = { speaker: "callee", startMs, endMs: startMs, responseMs, interrupted: false };
    this.#turns.push(this.#calleeTurn);
    this.#emit({ type: "callee-speaks", atMs: startMs, responseMs });
  }

  #calleeCommits(turn: CalleeTurn): void {
    this.#dialogue.noteCalleeTurn(turn);
    this.#closeCalleeTurn(turn.endSamples);
  }

  #closeCalleeTurn(endSamples: number): void {
    const turn = this.#calleeTurn;
    if (turn === undefined) return;
    this.#calleeTurn = undefined;
    turn.endMs = toMs(endSamples);
    this.#emit({ type: "callee-spoke", turn });
  }

  #closeTurns(): void {
    const spoken = this.#mouth.stop();
    if (spoken !== undefined) this.#finishUtterance({ ...spoken, cutOff: true });
    if (this.#hearing.turn !== undefined) this.#closeCalleeTurn(this.#hearing.turn.endSamples);
    this.#turns.sort((one, other) => one.startMs - other.startMs);
  }

  /** Ends a call that stalls, blocks, or gets no answer. */
  #checkLimits(): void {
    const { answerTimeoutMs, blockedTimeoutMs } = this.#limits;
    const now = performance.now();
    if (this.#isStalled(now)) {
      this.#finish({ outcome: "stalled", endedBy: "caller", reason: STALL_REASON });
    } else if (now - this.#lastSentWallMs > blockedTimeoutMs) {
      const reason = `the callee took no audio for ${blockedTimeoutMs / 1000} s`;
      this.#finish({ outcome: "stalled", endedBy: "caller", reason });
    } else if (this.#options.plan.waitForCalleeFirst && now - this.#dialledAt > answerTimeoutMs) {
      if (this.#heardNothing !== undefined) this.#finish(this.#heardNothing);
    }
  }

  #isStalled(wallMs: number): boolean {
    const { stallMs, stallWallMs } = this.#limits;
    return this.#quietInTurnMs > stallMs && wallMs - this.#lastReceivedWallMs > stallWallMs;
  }

  /** Time without any audio while the callee's turn is open and the caller waits for its end. */
  get #quietInTurnMs(): number {
    if (this.#hearing.turn === undefined || !this.#dialogue.awaitsReply) return 0;
    return toMs(this.#sentSamples - this.#hearing.lastReceivedAt);
  }

  get #heardNothing(): Verdict | undefined {
    if (this.#setupMs !== null) return undefined;
    return { outcome: "callee_no_answer", endedBy: "caller", reason: "nothing was heard of the callee" };
  }

  /** Limits received audio too, because a callee may send faster than real time. */
  get #isTooLong(): boolean {
    const maxSamples = msToSamples(this.#limits.durationMs, CALLER_RATE);
    return this.#sentSamples >= maxSamples || this.#hearing.receivedSamples > maxSamples;
  }

  #timedOut(): Verdict {
    const reason = `the call reached its longest duration of ${this.#limits.durationMs / 1000} s`;
    return { outcome: "timeout", endedBy: "caller", reason };
  }

  #endedByCaller(): Verdict {
    return this.#heardNothing ?? { outcome: "completed", endedBy: "caller", reason: "the caller hung up" };
  }

  #endedByCallee(reason: string): Verdict {
    if (this.#setupMs === null) {
      return { outcome: "callee_no_answer", endedBy: "callee", reason: `${reason}, before any audio came` };
    }
    if (this.#quietInTurnMs > CLOSED_IN_STALL_MS) {
      return { outcome: "stalled", endedBy: "callee", reason: `${STALL_REASON}; at last ${reason}` };
    }
    return { outcome: "completed", endedBy: "callee", reason };
  }

  #verdictOf(end: LineEnd): Verdict {
    if (end.type === "refused") {
      return { outcome: "callee_no_answer", endedBy: "callee", reason: end.reason };
    }
    return this.#endedByCallee(`the callee closed the line (${describeClose(end.code, end.reason)})`);
  }

  #finish(verdict: Verdict): void {
    if (this.#verdict !== undefined) return;
    this.#verdict = verdict;
    this.#pacer.stop();
    this.#line?.hangUp();
  }

  #report(end: LineEnd, verdict: Verdict): CallReport {
    return {
      ...verdict,
      ...(end.type === "closed" ? { closeCode: end.code, closeReason: end.reason } : {}),
      durationMs: toMs(this.#sentSamples),
      setupMs: this.#setupMs,
      turns: this.#turns,
      undone: this.#dialogue.remaining.map(describeStep),
      missedInterruptions: [...this.#dialogue.missedInterruptions],
      endedInsideSample: this.#hearing.receivedBytes % 2 === 1,
      pacing: this.#pacer.report(),
    };
  }

  #emit(event: CallEvent): void {
    this.#options.onEvent?.(event);
  }
}

const STALL_REASON =
  "the callee's turn never ended: it sent no silence after its speech, so both sides waited (1500 ms of received silence end a turn)";

function describeClose(code: number, reason: string): string {
  return reason === "" ? `code ${code}` : `code ${code}: ${reason}`;
}

function toMs(samples: number): number {
  return Math.round(samplesToMs(samples, CALLER_RATE));
}
