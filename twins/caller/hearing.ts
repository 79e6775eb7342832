/**
 * What the caller hears. Only received audio counts: a callee that sends nothing is neither speaking nor silent, so its
 * turn ends only after it has sent `COMMIT_SILENCE_MS` of silence.
 */
import { CALLER_RATE, msToSamples, SampleAligner } from "@offhook/audio/pcm";
import { createSpeechDetector, type SpeechDetector } from "@offhook/audio/speech-detector";
import { isAudible } from "./audible.ts";

/** Received silence that ends the callee's turn. */
const COMMIT_SILENCE_MS = 1_500;
/** Received speech that starts a turn; less is a click. */
const SPEECH_START_MS = 80;
/** Sound up to this long before the detected start still belongs to the word. */
const ONSET_SAMPLES = msToSamples(200, CALLER_RATE);

/** A turn of the callee. Positions are in samples that the caller had sent (the caller's clock). */
export interface CalleeTurn {
  /** When its first audible sample arrived. */
  startSamples: number;
  /** When its latest audible sample arrived. */
  endSamples: number;
  /** Received audio since its first audible sample. */
  heardSamples: number;
}

export type HearingEvent = { type: "started"; turn: CalleeTurn } | { type: "committed"; turn: CalleeTurn };

export class Hearing {
  readonly #detector: SpeechDetector;
  readonly #aligner = new SampleAligner();
  #turn: (CalleeTurn & { startReceived: number }) | undefined;
  /** A sound that may become the start of speech. */
  #onset: { atSamples: number; received: number } | undefined;
  #lastAudibleAt = 0;
  #lastReceivedAt = 0;
  #receivedBytes = 0;

  static async create(): Promise<Hearing> {
    return new Hearing(
      await createSpeechDetector({
        sampleRate: CALLER_RATE,
        startMs: SPEECH_START_MS,
        endMs: COMMIT_SILENCE_MS,
      }),
    );
  }

  private constructor(detector: SpeechDetector) {
    this.#detector = detector;
  }

  /** The callee's open turn. */
  get turn(): Readonly<CalleeTurn> | undefined {
    return this.#turn;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get receivedSamples(): number {
    return this.#detector.positionSamples;
  }

  /** The caller's clock when the latest audio (or silence) arrived. */
  get lastReceivedAt(): number {
    return this.#lastReceivedAt;
  }

  /**
   * Takes a piece of audio of any length.
   * @param now the caller's clock: samples sent so far
   * @returns the samples it completes, and the turn events in them
   */
  push(bytes: Uint8Array, now: number): { audio: Int16Array; events: HearingEvent[] } {
    this.#receivedBytes += bytes.byteLength;
    this.#lastReceivedAt = now;
    const audio = this.#aligner.push(bytes);
    const before = this.#detector.positionSamples;
    this.#listenForSound(audio, before, now);
    const events = this.#detector.push(audio).map((edge): HearingEvent => {
      return edge.type === "start" ? this.#start(edge.atSample, now) : this.#commit(edge.atSample);
    });
    if (this.#turn !== undefined) {
      this.#turn.heardSamples = this.#detector.positionSamples - this.#turn.startReceived;
      this.#turn.endSamples = this.#lastAudibleAt;
    }
    return { audio, events };
  }

  close(): void {
    this.#detector.close();
  }

  #listenForSound(audio: Int16Array, received: number, now: number): void {
    const first = audio.findIndex(isAudible);
    if (first === -1) return;
    const quietSamples = received + first - (this.#onset?.received ?? Number.NEGATIVE_INFINITY);
    if (this.#onset === undefined || quietSamples > ONSET_SAMPLES) {
      this.#onset = { atSamples: now, received: received + first };
    }
    this.#lastAudibleAt = now;
  }

  #start(atReceived: number, now: number): HearingEvent {
    const onset = this.#onset ?? { atSamples: now, received: atReceived };
    this.#turn = {
      startSamples: onset.atSamples,
      endSamples: now,
      heardSamples: 0,
      startReceived: onset.received,
    };
    return { type: "started", turn: this.#turn };
  }

  #commit(speechEndReceived: number): HearingEvent {
    const { startSamples = 0, startReceived = 0 } = this.#turn ?? {};
    this.#turn = undefined;
    this.#onset = undefined;
    const heardSamples = speechEndReceived - startReceived;
    return { type: "committed", turn: { startSamples, endSamples: this.#lastAudibleAt, heardSamples } };
  }
}
