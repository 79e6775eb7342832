/** What the user says: transcribed, told to the client and the model, recorded once it is certain, and timed. */
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
  /** Takes an answer; the clock goes on afterwards by itself. */
  apply(event: TurnEvent): void;
}

interface ClosedTurn {
  said: UserTurn;
  text: string;
  closedMs: number;
  transcriberMs: number;
  recorded: boolean;
}

export class UserTurns {
  readonly #options: UserTurnsOptions;
  /** The last turn that was understood; until the assistant answers it may still go on. */
  #last: ClosedTurn | undefined;
  #hearingSoFar = false;
  #unrecognisedNoted = false;
  readonly latencies: TurnLatency[] = [];

  constructor(options: UserTurnsOptions) {
    this.#options = options;
  }

  open(fromMs: number): void {
    this.settle();
    this.#options.listener.open(fromMs);
  }

  hear(request: number): void {
    this.#whileClockWaits(async () => {
      const text = await this.#options.listener.hear();
      this.#options.apply({ type: "heard", request, text });
    });
  }

  /** One at a time: a recogniser that cannot keep up is asked less often. */
  hearSoFar(turn: number): void {
    if (this.#hearingSoFar) return;
    this.#hearingSoFar = true;
    this.#whileClockWaits(async () => {
      const text = await this.#options.listener.hearSoFar();
      this.#hearingSoFar = false;
      this.#options.apply({ type: "heard-so-far", turn, text });
    });
  }

  sendPartial(text: string): void {
    this.#sendTranscript("partial", text);
  }

  close({ said, text, again, closedMs }: Extract<TurnEffect, { type: "close-turn" }>): void {
    const { listener, conversation, send } = this.#options;
    if (text === null) {
      if (again) return;
      listener.settle();
      this.#leaveUnrecognised(said);
      return;
    }
    this.#last = { said, text, closedMs, transcriberMs: listener.transcriberMs, recorded: false };
    conversation.addUserTurn(said.turn, text);
    send(conversationUpdate(conversation.all()));
    this.#sendTranscript("final", text);
  }

  /** The client hears nothing of such a turn: only the log and the row say why nobody answers. */
  #leaveUnrecognised({ turn, startMs, endMs }: UserTurn): void {
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

  /** The last turn is over for good. */
  settle(): void {
    if (this.#last === undefined || this.#last.recorded) return;
    this.#last.recorded = true;
    const { said, text } = this.#last;
    this.#options.parts.record({ role: "user", text, startMs: said.startMs, endMs: said.endMs });
  }

  /** The assistant's answer begins to be heard. One that could not be spoken has no latency. */
  answered({ job, utterance, latencies }: AssistantJob): void {
    if (job.type !== "reply") return;
    this.settle();
    this.#options.listener.settle();
    if (!utterance.playable) return;
    if (this.#last === undefined || job.answers?.turn !== this.#last.said.turn) return;
    const { said, closedMs, transcriberMs } = this.#last;
    this.latencies.push({
      modelLatency: Math.round(latencies.modelMs),
      voiceLatency: Math.round(latencies.voiceMs),
      transcriberLatency: Math.round(transcriberMs),
      endpointingLatency: Math.round(closedMs - said.endMs),
      turnLatency: Math.round(this.#options.clock.receivedMs - said.endMs),
    });
  }

  #whileClockWaits(work: () => Promise<void>): void {
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
