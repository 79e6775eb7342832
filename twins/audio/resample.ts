/**
 * Changes the sample rate of a stream with a polyphase windowed-sinc filter (Kaiser window): pass band up to 0.4 of the
 * lower rate, stop band from 0.5. Positions are integers, so a stream never drifts.
 */
import { clampSample } from "./signal.ts";

export const MIN_SAMPLE_RATE = 3_000;
export const MAX_SAMPLE_RATE = 192_000;

/** Kaiser window shape for about 70 dB of stop-band attenuation. */
const KAISER_BETA = 6.8;
/** Half the filter length, in samples of the lower rate: the transition band is a tenth of that rate. */
const HALF_LENGTH = 23;
/** Middle of the transition band, as a share of the lower rate. */
const CUTOFF = 0.45;
/** Input is processed in blocks, so that a huge chunk needs no huge buffer. */
const BLOCK_SAMPLES = 4_096;
const MAX_CACHED_FILTERS = 8;
/** Rates without a simple ratio would need one filter per sample of a second; the nearest of this many is as good. */
const MAX_PHASES = 1_024;

export interface Resampler {
  /** Takes the next samples of the stream. @returns the output that is complete by now */
  push(samples: Int16Array): Int16Array;
  /**
   * Ends the stream. The resampler is then ready for another one.
   * @returns the rest; the whole output has exactly `round(input · toRate / fromRate)` samples, without delay
   */
  flush(): Int16Array;
}

/** @throws RangeError unless both rates (in Hz) are integers from 3000 to 192000 */
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

/** Resamples a whole recording. */
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

/** A polyphase filter: one short filter for each position between two input samples. */
interface PolyphaseFilter {
  /** Output samples per `down` input samples, in lowest terms. */
  up: number;
  down: number;
  /** Input samples on either side that contribute to an output sample. */
  reach: number;
  /** Positions between two input samples that have their own filter. */
  phases: number;
  /** `phases + 1` rows of `2 · reach` coefficients; the last row is the first of the next sample. */
  coefficients: Float64Array;
}

class PolyphaseResampler implements Resampler {
  readonly #filter: PolyphaseFilter;
  readonly #window: Float64Array;
  /** Samples in `#window`, and the stream position of its first one. */
  #windowLength: number;
  #windowStart: number;
  #inputSamples = 0;
  #outputSamples = 0;
  /** Stream position after the last sample that is not zero: most of a call is silence in one direction. */
  #soundEnd = Number.NEGATIVE_INFINITY;

  constructor(fromRate: number, toRate: number) {
    this.#filter = filterFor(fromRate, toRate);
    this.#window = new Float64Array(BLOCK_SAMPLES + 2 * this.#filter.reach + this.#filter.down);
    this.#windowLength = this.#filter.reach;
    this.#windowStart = -this.#filter.reach;
  }

  push(samples: Int16Array): Int16Array {
    this.#inputSamples += samples.length;
    const { up, down, reach } = this.#filter;
    const complete = Math.max(this.#outputSamples, Math.floor(((this.#inputSamples - reach) * up) / down));
    return this.#convert(samples, complete);
  }

  flush(): Int16Array {
    const { up, down, reach } = this.#filter;
    const total = Math.round((this.#inputSamples * up) / down);
    const rest = this.#convert(new Int16Array(reach + down), total);
    this.#windowLength = reach;
    this.#windowStart = -reach;
    this.#window.fill(0);
    this.#inputSamples = 0;
    this.#outputSamples = 0;
    this.#soundEnd = Number.NEGATIVE_INFINITY;
    return rest;
  }

  /** Processes `samples`. @returns the output up to position `until` */
  #convert(samples: Int16Array, until: number): Int16Array {
    const output = new Int16Array(until - this.#outputSamples);
    const first = this.#outputSamples;
    for (let at = 0; at < samples.length; at += BLOCK_SAMPLES) {
      const block = samples.subarray(at, at + BLOCK_SAMPLES);
      this.#window.set(block, this.#windowLength);
      const sounding = soundingLength(block);
      if (sounding > 0) this.#soundEnd = this.#windowStart + this.#windowLength + sounding;
      this.#windowLength += block.length;
      this.#fill(output, first, until);
      this.#dropConsumed();
    }
    return output;
  }

  #fill(output: Int16Array, first: number, until: number): void {
    const { up, down, reach, phases, coefficients } = this.#filter;
    const length = 2 * reach;
    const window = this.#window;
    for (; this.#outputSamples < until; this.#outputSamples++) {
      const position = this.#outputSamples * down;
      const phase = position % up;
      const from = (position - phase) / up - reach + 1 - this.#windowStart;
      if (from + length > this.#windowLength) return;
      // Of silence: `output` has zeros already.
      if (from + this.#windowStart >= this.#soundEnd) continue;
      let sum = 0;
      for (let tap = 0, row = Math.round((phase * phases) / up) * length; tap < length; tap++) {
        sum += (window[from + tap] ?? 0) * (coefficients[row + tap] ?? 0);
      }
      output[this.#outputSamples - first] = clampSample(sum);
    }
  }

  /** Drops input that no later output needs. */
  #dropConsumed(): void {
    const { up, down, reach } = this.#filter;
    const needed = Math.floor((this.#outputSamples * down) / up) - reach + 1;
    const spare = Math.min(needed - this.#windowStart, this.#windowLength);
    if (spare <= 0) return;
    this.#window.copyWithin(0, spare, this.#windowLength);
    this.#windowLength -= spare;
    this.#windowStart += spare;
  }
}

/** Length up to the last sample that is not zero. */
function soundingLength(samples: Int16Array): number {
  let length = samples.length;
  while (length > 0 && samples[length - 1] === 0) length--;
  return length;
}

/** Pure and shared by all streams: designing a filter costs milliseconds. Least recently used first. */
const filterCache = new Map<string, PolyphaseFilter>();

function filterFor(fromRate: number, toRate: number): PolyphaseFilter {
  const divisor = greatestCommonDivisor(fromRate, toRate);
  const [up, down] = [toRate / divisor, fromRate / divisor];
  const key = `${up}/${down}`;
  const filter = filterCache.get(key) ?? designFilter(up, down);
  filterCache.delete(key);
  filterCache.set(key, filter);
  const oldest = filterCache.keys().next().value;
  if (filterCache.size > MAX_CACHED_FILTERS && oldest !== undefined) filterCache.delete(oldest);
  return filter;
}

function designFilter(up: number, down: number): PolyphaseFilter {
  /** The lower rate as a share of the input rate. */
  const lower = Math.min(1, up / down);
  const reach = Math.ceil(HALF_LENGTH / lower);
  const length = 2 * reach;
  const phases = Math.min(up, MAX_PHASES);
  const coefficients = new Float64Array((phases + 1) * length);
  const row = new Float64Array(length);
  for (let phase = 0; phase <= phases; phase++) {
    let sum = 0;
    for (let tap = 0; tap < length; tap++) {
      const distance = tap - reach + 1 - phase / phases;
      const value = sinc(2 * CUTOFF * lower * distance) * kaiser(distance / reach);
      row[tap] = value;
      sum += value;
    }
    // Unit gain at DC for every phase. Single precision gives the same result on every machine; kept in double, for a
    // conversion of each would take longer than the multiplication.
    for (let tap = 0; tap < length; tap++) {
      coefficients[phase * length + tap] = Math.fround((row[tap] ?? 0) / sum);
    }
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
