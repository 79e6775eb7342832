/** The user's turns: has them transcribed, tells the client and the model, records the final ones, and times them. */
import { wallTime } from "@offhook/platform/base/clock";
import type { AssistantJob } from "./assistant-job.ts";
import type { CallPlan, SessionParts, TurnLatency } from "./contract.ts";
import type { Conversation } from "./conversation.ts";
import type { Listener } from "./listener.ts";
import type { MediaClock } from "./media-clock.ts";
import { conversationUpdate, type RuntimeMessage, transcript } from "./messages.ts";
import type { TurnEffect, TurnEvent, UserTurn } from "./turn-types.ts";

export interface UserTurnsOptions {
  plan: CallPlan;
  parts: SessionParts;
  conversation: Conversation;
  listener: Listener;
  clock: MediaClock;
  send(message: RuntimeMessage): void;
  /** Applies a result; the clock resumes by itself afterwards. */
  apply(event: TurnEvent): void;
}

interface ClosedTurn {
  said: UserTurn;
  text: string;
  closedMs: number;
  /** Wall time. */
  closedAt: number;
  transcriberMs: number;
  recorded: boolean;
}

export class UserTurns {
  readonly #options: UserTurnsOptions;
  /** The last recognised turn; it may still continue until the assistant answers it. */
  #last: ClosedTurn | undefined;
  #transcribingPartial = false;
  #unrecognisedNoted = false;
  readonly latencies: TurnLatency[] = [];

  constructor(options: UserTurnsOptions) {
    this.#options = options;
  }

  open(fromMs: number): void {
    this.settle();
    this.#options.listener.open(fromMs);
  }

  transcribe(request: number): void {
    this.#options.parts.trace?.callerPaused();
    this.#holdClockDuring(async () => {
      const text = await this.#options.listener.transcribe();
      this.#options.apply({ type: "transcribed", request, text });
    });
  }

  /** Runs one request at a time, so a slow recogniser gets fewer of them. */
  transcribePartial(turn: number): void {
    if (this.#transcribingPartial) return;
    this.#transcribingPartial = true;
    this.#holdClockDuring(async () => {
      const text = await this.#options.listener.transcribePartial();
      this.#transcribingPartial = false;
      this.#options.apply({ type: "partial-transcribed", turn, text });
    });
  }

  sendPartial(text: string): void {
    this.#sendTranscript("partial", text);
  }

  close({ said, text, reopened, closedMs }: Extract<TurnEffect, { type: "close-turn" }>): void {
    const { listener, conversation, send } = this.#options;
    if (text === null) {
      if (reopened) return;
      listener.settle();
      this.#recordUnrecognised(said);
      return;
    }
    const { transcriberMs } = listener;
    this.#last = { said, text, closedMs, closedAt: wallTime(), transcriberMs, recorded: false };
    conversation.addUserTurn(said.turn, text);
    send(conversationUpdate(conversation.all()));
    this.#sendTranscript("final", text);
  }

  /** The client gets no message about such a turn: only the log and the row explain why nobody answers. */
  #recordUnrecognised({ turn, startMs, endMs }: UserTurn): void {
    const { plan, parts } = this.#options;
    parts.record({ role: "unrecognised", startMs, endMs });
    if (this.#unrecognisedNoted) return;
    this.#unrecognisedNoted = true;
    const { format, sampleRate } = plan.audioFormat;
    const { hint } = parts.recognition;
    parts.log.warn(
      { turn, speechMs: Math.round(endMs - startMs) },
      `nothing was recognised in what the caller said, so nobody answers: the client must send ${format} at ${sampleRate} Hz, as it asked for${hint === undefined ? "" : `; ${hint}`}`,
    );
  }

  /** Records the last turn: it can no longer continue. */
  settle(): void {
    if (this.#last === undefined || this.#last.recorded) return;
    this.#last.recorded = true;
    const { said, text } = this.#last;
    this.#options.parts.record({ role: "user", text, startMs: said.startMs, endMs: said.endMs });
  }

  /** The assistant's answer starts. @returns its latency; an answer whose synthesis failed has none */
  noteAnswer({ job, utterance, latencies, trace }: AssistantJob): TurnLatency | undefined {
    if (job.type !== "reply") return undefined;
    this.settle();
    this.#options.listener.settle();
    if (!utterance.playable) return undefined;
    if (this.#last === undefined || job.answers?.turn !== this.#last.said.turn) return undefined;
    const { said, closedMs, closedAt, transcriberMs } = this.#last;
    const latency: TurnLatency = {
      modelLatency: Math.round(latencies.modelMs),
      voiceLatency: Math.round(latencies.voiceMs),
      transcriberLatency: Math.round(transcriberMs),
      endpointingLatency: Math.round(closedMs - said.endMs),
      turnLatency: Math.round(this.#options.clock.receivedMs - said.endMs),
    };
    this.latencies.push(latency);
    const { askedAt, modelMs, voiceMs } = latencies;
    const endpointingMediaMs = latency.endpointingLatency;
    trace?.answered({ closedAt, askedAt, transcriberMs, modelMs, voiceMs, endpointingMediaMs });
    return latency;
  }

  #holdClockDuring(work: () => Promise<void>): void {
    const { clock } = this.#options;
    const release = clock.hold({ applies: () => true });
    void work().finally(() => {
      release();
      clock.resume();
    });
  }

  #sendTranscript(transcriptType: "partial" | "final", text: string): void {
    const { plan, send } = this.#options;
    send(transcript(plan.assistant, { role: "user", transcriptType, transcript: text }));
  }
}
