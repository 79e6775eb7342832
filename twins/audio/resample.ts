/**
 * Changes the sample rate of a stream: a polyphase windowed-sinc filter (Kaiser window). Flat to 0.4 of the lower
 * rate, nothing left from half of it up. Positions are kept as whole numbers, so a stream never drifts.
 */
import { clampSample } from "./pcm.ts";

export const MIN_SAMPLE_RATE = 3_000;
export const MAX_SAMPLE_RATE = 192_000;

/** Kaiser window shape for about 70 dB of stop-band attenuation. */
const KAISER_BETA = 6.8;
/** Half the filter's length, in samples of the lower rate: a transition band of a tenth of that rate. */
const HALF_LENGTH = 23;
/** Middle of the transition band, as a share of the lower rate. */
const CUTOFF = 0.45;
/** Input is worked through in blocks, so that one huge chunk needs no huge buffer. */
const BLOCK_SAMPLES = 4_096;
const MAX_CACHED_FILTERS = 8;
/** Rates with no simple ratio would need one filter per sample of a second: the nearest of so many is as good. */
const MAX_PHASES = 1_024;

export interface Resampler {
  /** Takes the next samples of the stream, gives those of the output that are settled by now. */
  push(samples: Int16Array): Int16Array;
  /**
   * Ends the stream and gives the rest: the output of the whole stream is then exactly
   * `round(input · toRate / fromRate)` samples long and not delayed. The resampler is then ready for another stream.
   */
  flush(): Int16Array;
}

/** Rates in samples per second, whole numbers from 3000 to 192000. */
export function createResampler(fromRate: number, toRate: number): Resampler {
  for (const rate of [fromRate, toRate]) {
    if (!Number.isInteger(rate) || rate < MIN_SAMPLE_RATE || rate > MAX_SAMPLE_RATE) {
      throw new RangeError(
        `sample rate ${rate}: use a whole number from ${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE}`,
      );
    }
  }
  return fromRate === toRate ? new PassThrough() : new PolyphaseResampler(fromRate, toRate);
}

/** A whole recording at once. */
export function resample(samples: Int16Array, fromRate: number, toRate: number): Int16Array {
  const resampler = createResampler(fromRate, toRate);
  const head = resampler.push(samples);
  const tail = resampler.flush();
  const all = new Int16Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all;
}

class PassThrough implements Resampler {
  push(samples: Int16Array): Int16Array {
    return samples.slice();
  }

  flush(): Int16Array {
    return new Int16Array(0);
  }
}

/** The filter, cut into one short filter per position between two input samples. */
interface PolyphaseFilter {
  /** Output samples per `down` input samples, in lowest terms. */
  up: number;
  down: number;
  /** Input samples either side of an output sample that shape it. */
  reach: number;
  /** Positions between two input samples that have a filter of their own. */
  phases: number;
  /** `phases + 1` rows (the last is the first of the next sample) of `2 · reach` coefficients. */
  coefficients: Float32Array;
}

class PolyphaseResampler implements Resampler {
  readonly #filter: PolyphaseFilter;
  readonly #window: Float64Array;
  /** Samples in `#window`, and the stream position of its first one. */
  #held: number;
  #windowStart: number;
  #taken = 0;
  #given = 0;

  constructor(fromRate: number, toRate: number) {
    this.#filter = polyphaseFilter(fromRate, toRate);
    this.#window = new Float64Array(BLOCK_SAMPLES + 2 * this.#filter.reach + this.#filter.down);
    this.#held = this.#filter.reach;
    this.#windowStart = -this.#filter.reach;
  }

  push(samples: Int16Array): Int16Array {
    this.#taken += samples.length;
    const { up, down, reach } = this.#filter;
    const settled = Math.max(this.#given, Math.floor(((this.#taken - reach) * up) / down));
    return this.#convert(samples, settled);
  }

  flush(): Int16Array {
    const { up, down, reach } = this.#filter;
    const total = Math.round((this.#taken * up) / down);
    const rest = this.#convert(new Int16Array(reach + down), total);
    this.#held = reach;
    this.#windowStart = -reach;
    this.#window.fill(0);
    this.#taken = 0;
    this.#given = 0;
    return rest;
  }

  /** Feeds `samples` and gives the output up to position `until`. */
  #convert(samples: Int16Array, until: number): Int16Array {
    const output = new Int16Array(until - this.#given);
    const first = this.#given;
    for (let at = 0; at < samples.length; at += BLOCK_SAMPLES) {
      const block = samples.subarray(at, at + BLOCK_SAMPLES);
      this.#window.set(block, this.#held);
      this.#held += block.length;
      this.#fill(output, first, until);
      this.#forget();
    }
    return output;
  }

  #fill(output: Int16Array, first: number, until: number): void {
    const { up, down, reach, phases, coefficients } = this.#filter;
    const length = 2 * reach;
    const window = this.#window;
    for (; this.#given < until; this.#given++) {
      const position = this.#given * down;
      const phase = position % up;
      const from = (position - phase) / up - reach + 1 - this.#windowStart;
      if (from + length > this.#held) return;
      let sum = 0;
      for (let tap = 0, row = Math.round((phase * phases) / up) * length; tap < length; tap++) {
        sum += (window[from + tap] ?? 0) * (coefficients[row + tap] ?? 0);
      }
      output[this.#given - first] = clampSample(sum);
    }
  }

  /** Drops what no later output sample needs. */
  #forget(): void {
    const { up, down, reach } = this.#filter;
    const needed = Math.floor((this.#given * down) / up) - reach + 1;
    const spare = Math.min(needed - this.#windowStart, this.#held);
    if (spare <= 0) return;
    this.#window.copyWithin(0, spare, this.#held);
    this.#held -= spare;
    this.#windowStart += spare;
  }
}

const filters = new Map<string, PolyphaseFilter>();

function polyphaseFilter(fromRate: number, toRate: number): PolyphaseFilter {
  const divisor = greatestCommonDivisor(fromRate, toRate);
  const [up, down] = [toRate / divisor, fromRate / divisor];
  const key = `${up}/${down}`;
  const filter = filters.get(key) ?? designFilter(up, down);
  filters.delete(key);
  filters.set(key, filter);
  const oldest = filters.keys().next().value;
  if (filters.size > MAX_CACHED_FILTERS && oldest !== undefined) filters.delete(oldest);
  return filter;
}

function designFilter(up: number, down: number): PolyphaseFilter {
  /** The lower rate as a share of the input rate. */
  const lower = Math.min(1, up / down);
  const reach = Math.ceil(HALF_LENGTH / lower);
  const length = 2 * reach;
  const phases = Math.min(up, MAX_PHASES);
  const coefficients = new Float32Array((phases + 1) * length);
  const row = new Float64Array(length);
  for (let phase = 0; phase <= phases; phase++) {
    let sum = 0;
    for (let tap = 0; tap < length; tap++) {
      const distance = tap - reach + 1 - phase / phases;
      const value = sinc(2 * CUTOFF * lower * distance) * kaiser(distance / reach);
      row[tap] = value;
      sum += value;
    }
    // Every phase passes a constant signal unchanged. Single precision keeps the result the same on every machine.
    for (let tap = 0; tap < length; tap++) coefficients[phase * length + tap] = (row[tap] ?? 0) / sum;
  }
  return { up, down, reach, phases, coefficients };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) > 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - x * x)) / besselI0(KAISER_BETA);
}

/** Modified Bessel function of the first kind, order zero, by its power series. */
function besselI0(x: number): number {
  let [sum, term] = [1, 1];
  for (let n = 1; term > sum * 1e-12; n++) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
