/**
 * Where speech starts and ends in a stream of audio: WebRTC's voice-activity detector (WebAssembly), with hysteresis
 * so that a click is no speech and a pause between two words is no end. All times are counted in samples of the
 * stream, never by a clock.
 */
import loadFvad, { type FvadModule } from "@echogarden/fvad-wasm";
import { BYTES_PER_SAMPLE, levelDb, mix, msToSamples } from "./pcm.ts";
import { createResampler, type Resampler } from "./resample.ts";

export interface SpeechDetectorOptions {
  /** Samples per second of the stream, 8000 to 48000. */
  sampleRate: number;
  /** Speech this long counts as a start. */
  startMs: number;
  /** Silence this long after speech counts as its end. */
  endMs: number;
}

/** `atSample`: position in the stream where speech began, or where its last frame ended. */
export interface SpeechEdge {
  type: "start" | "end";
  atSample: number;
}

export interface SpeechDetector {
  /** Takes the next samples of the stream, any number of them; gives the edges they settled, in order. */
  push(audio: Int16Array): SpeechEdge[];
  /** Between a start and its end. */
  readonly speaking: boolean;
  /** Samples taken so far. */
  readonly positionSamples: number;
  /** Samples since the last frame of speech, or since the beginning when there was none. */
  readonly silenceSamples: number;
  /** Frees the detector's memory. Nothing may be pushed after it. */
  close(): void;
}

/** The detector's own rate and frame. It works on 8 kHz inside; at 16 kHz it needs no more than one filter for it. */
const DETECTOR_RATE = 16_000;
const FRAME_SAMPLES = DETECTOR_RATE / 100;
const DETECTOR_FRAME_MS = 10;
/** WebRTC's strictest mode: the one that takes least noise for speech. */
const STRICTEST_MODE = 3;
/** Below this level nothing is speech: line noise, and the detector's model while it has not yet heard any. */
const FLOOR_DB = -55;
/**
 * Faint noise under everything the detector hears: one that knows digital silence only takes the first noise that
 * comes for speech. (Half a second at about -45 dBFS, from a linear congruential generator; repeated.)
 */
const LINE_NOISE = lineNoise(DETECTOR_RATE / 2, 180);
/** A frame without speech takes back this many frames with it, while a start is not yet settled. */
const DOUBT_FRAMES = 2;

/** All detectors live in one WebAssembly memory; each takes under a kilobyte of it. */
let sharedModule: Promise<FvadModule> | undefined;

export async function createSpeechDetector(options: SpeechDetectorOptions): Promise<SpeechDetector> {
  sharedModule ??= loadFvad();
  return new WebRtcSpeechDetector(await sharedModule, options);
}

class WebRtcSpeechDetector implements SpeechDetector {
  readonly #frames: FrameClassifier;
  readonly #resampler: Resampler;
  readonly #sampleRate: number;
  readonly #startFrames: number;
  readonly #endFrames: number;
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #frameFill = 0;
  #frameCount = 0;
  #positionSamples = 0;
  #speaking = false;
  /** Frame after the last one with speech. */
  #speechEnd = 0;
  /** Weight of the speech heard since `#candidateStart`, in frames. */
  #evidence = 0;
  #candidateStart = 0;

  constructor(module: FvadModule, { sampleRate, startMs, endMs }: SpeechDetectorOptions) {
    this.#resampler = createResampler(sampleRate, DETECTOR_RATE);
    this.#sampleRate = sampleRate;
    this.#startFrames = Math.max(1, Math.round(startMs / DETECTOR_FRAME_MS));
    this.#endFrames = Math.max(1, Math.round(endMs / DETECTOR_FRAME_MS));
    this.#frames = new FrameClassifier(module);
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  get positionSamples(): number {
    return this.#positionSamples;
  }

  get silenceSamples(): number {
    return Math.max(0, this.#positionSamples - this.#toStream(this.#speechEnd));
  }

  push(audio: Int16Array): SpeechEdge[] {
    this.#positionSamples += audio.length;
    const edges: SpeechEdge[] = [];
    const converted = this.#resampler.push(audio);
    for (let at = 0; at < converted.length; ) {
      const part = converted.subarray(at, at + FRAME_SAMPLES - this.#frameFill);
      this.#frame.set(part, this.#frameFill);
      this.#frameFill += part.length;
      at += part.length;
      if (this.#frameFill < FRAME_SAMPLES) break;
      this.#frameFill = 0;
      const edge = this.#take(this.#frames.isSpeech(this.#frame));
      if (edge !== undefined) edges.push(edge);
    }
    return edges;
  }

  close(): void {
    this.#frames.close();
  }

  #take(isSpeech: boolean): SpeechEdge | undefined {
    const at = this.#frameCount++;
    if (isSpeech) this.#speechEnd = at + 1;
    return this.#speaking ? this.#watchForEnd() : this.#watchForStart(isSpeech, at);
  }

  #watchForStart(isSpeech: boolean, at: number): SpeechEdge | undefined {
    if (!isSpeech) {
      this.#evidence = Math.max(0, this.#evidence - DOUBT_FRAMES);
      return undefined;
    }
    if (this.#evidence === 0) this.#candidateStart = at;
    this.#evidence += 1;
    if (this.#evidence < this.#startFrames) return undefined;
    this.#evidence = 0;
    this.#speaking = true;
    return { type: "start", atSample: this.#toStream(this.#candidateStart) };
  }

  #watchForEnd(): SpeechEdge | undefined {
    if (this.#frameCount - this.#speechEnd < this.#endFrames) return undefined;
    this.#speaking = false;
    return { type: "end", atSample: this.#toStream(this.#speechEnd) };
  }

  #toStream(frames: number): number {
    return msToSamples(frames * DETECTOR_FRAME_MS, this.#sampleRate);
  }
}

/** One WebRTC detector: 10 ms frames at 16 kHz in, speech or not out. */
class FrameClassifier {
  readonly #module: FvadModule;
  readonly #frame: number;
  #detector: number;
  #noiseAt = 0;

  constructor(module: FvadModule) {
    this.#module = module;
    this.#frame = module._malloc(FRAME_SAMPLES * BYTES_PER_SAMPLE);
    this.#detector = module._fvad_new();
    if (this.#frame === 0 || this.#detector === 0) {
      throw new Error("no memory for another speech detector: close those no longer needed");
    }
    module._fvad_set_mode(this.#detector, STRICTEST_MODE);
    module._fvad_set_sample_rate(this.#detector, DETECTOR_RATE);
    const silence = new Int16Array(FRAME_SAMPLES);
    for (let at = 0; at < LINE_NOISE.length; at += FRAME_SAMPLES) this.isSpeech(silence);
  }

  isSpeech(samples: Int16Array): boolean {
    if (this.#detector === 0) throw new Error("this speech detector is closed");
    const noise = LINE_NOISE.subarray(this.#noiseAt, this.#noiseAt + FRAME_SAMPLES);
    this.#noiseAt = (this.#noiseAt + FRAME_SAMPLES) % LINE_NOISE.length;
    this.#module.HEAP16.set(mix(samples, noise), this.#frame / BYTES_PER_SAMPLE);
    // Every frame goes to the detector, quiet ones too: they are what it learns the noise from.
    const voiced = this.#module._fvad_process(this.#detector, this.#frame, samples.length) === 1;
    return voiced && levelDb(samples) > FLOOR_DB;
  }

  close(): void {
    if (this.#detector === 0) return;
    this.#module._fvad_free(this.#detector);
    this.#module._free(this.#frame);
    this.#detector = 0;
  }
}

function lineNoise(lengthSamples: number, amplitude: number): Int16Array {
  let state = 1;
  return new Int16Array(lengthSamples).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((state / 2 ** 31 - 1) * amplitude * Math.sqrt(3));
  });
}
