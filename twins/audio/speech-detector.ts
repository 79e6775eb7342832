/**
 * Finds where speech starts and ends in a stream: WebRTC's voice-activity detector (WebAssembly) with hysteresis, so that
 * a click does not start speech and a pause between words does not end it. All times are counted in samples of the stream,
 * never by a clock.
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

/** `atSample`: stream position where speech started, or where its last frame ended. */
export interface SpeechEdge {
  type: "start" | "end";
  atSample: number;
}

export interface SpeechDetector {
  /** Takes the next samples of the stream. @returns the edges they complete, in order */
  push(audio: Int16Array): SpeechEdge[];
  /** Whether a start was found and its end was not. */
  readonly speaking: boolean;
  /** Samples pushed so far. */
  readonly positionSamples: number;
  /** Samples since the last frame of speech, or else since the start of the stream. */
  readonly silenceSamples: number;
  /** Frees the detector's memory; `push` throws afterwards. */
  close(): void;
}

/** The detector's rate and frame. It works at 8 kHz internally, which takes a single filter from 16 kHz. */
const DETECTOR_RATE = 16_000;
const FRAME_SAMPLES = DETECTOR_RATE / 100;
const DETECTOR_FRAME_MS = 10;
/** WebRTC's strictest mode, with the fewest false positives in noise. */
const STRICTEST_MODE = 3;
/** Nothing below this level is speech; covers line noise, and a detector whose noise model is still untrained. */
const FLOOR_DB = -55;
/**
 * Faint noise mixed into all input, because a detector that has only heard digital silence classifies the first noise as
 * speech. (Half a second at about -45 dBFS from a linear congruential generator, repeated.)
 */
const LINE_NOISE = lineNoise(DETECTOR_RATE / 2, 180);
/** While a start is uncertain, a frame without speech cancels this many frames with speech. */
const NON_SPEECH_PENALTY_FRAMES = 2;

/** All detectors share one WebAssembly memory; each takes less than a kilobyte. */
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
  /** Index of the frame after the last one with speech. */
  #speechEnd = 0;
  /** Evidence of speech since `#candidateStart`, in frames. */
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
      const edge = this.#classify(this.#frame);
      if (edge !== undefined) edges.push(edge);
    }
    return edges;
  }

  close(): void {
    this.#frames.close();
  }

  #classify(frame: Int16Array): SpeechEdge | undefined {
    const at = this.#frameCount++;
    const isSpeech = this.#frames.isSpeech(frame);
    if (isSpeech) this.#speechEnd = at + 1;
    if (this.#speaking) return this.#watchForEnd();
    if (isSpeech) return this.#watchForStart(at);
    this.#evidence = Math.max(0, this.#evidence - NON_SPEECH_PENALTY_FRAMES);
    return undefined;
  }

  #watchForStart(at: number): SpeechEdge | undefined {
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

/** One WebRTC detector, which classifies frames of 10 ms at 16 kHz. */
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
    // Process quiet frames too: they train the detector's noise model.
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
