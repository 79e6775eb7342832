/** What a deployment says of itself at its metrics address: memory and its slope, processor time, calls. */
import { reasonOf } from "@offhook/platform/base/reason";

/** A metrics address that does not answer with metrics. */
export class DeploymentError extends Error {
  override name = "DeploymentError";
}

export interface DeploymentFigures {
  url: string;
  /** Resident memory at the end of the plateau; `null` when the deployment does not say. */
  residentBytes: number | null;
  /** Growth of the resident memory over the plateau; `null` without enough independent samples. */
  slope: MemorySlope | null;
  /** Processor cores in use, on average; `null` when the deployment does not say. */
  cores: number | null;
  /** Calls it had at most. */
  maxActive: number | null;
  samples: number;
  /** Why the address did not answer the last time. */
  problem: string | null;
}

/** Confidence: 95 %, of samples thinned by their autocorrelation. */
interface MemorySlope {
  bytesPerHour: number;
  /** Half width of the interval. */
  confidenceBytesPerHour: number;
}

interface Sample {
  atMs: number;
  residentBytes: number | undefined;
  cpuSeconds: number | undefined;
  activeCalls: number | undefined;
}

const RESIDENT = "process_resident_memory_bytes";
const CPU = "process_cpu_seconds_total";
const ACTIVE = "offhook_calls_active";
const SAMPLE_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** With more samples every other one is removed, and the interval doubled. */
const MAX_SAMPLES = 4_000;
/** Fewer independent samples make no interval. */
const MIN_INDEPENDENT = 5;
const HOUR_MS = 3_600_000;

export class DeploymentMonitor {
  readonly url: string;
  /** Samples of the current plateau, or the last one. */
  samples: Sample[] = [];
  problem: string | null = null;
  #sampleMs = SAMPLE_MS;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(url: string) {
    this.url = url;
  }

  /** Reads the metrics once. @throws DeploymentError when the address does not answer */
  async check(): Promise<void> {
    await this.#read();
    if (this.problem !== null) throw new DeploymentError(`--metrics ${this.url}: ${this.problem}`);
  }

  beginPlateau(): void {
    this.samples = [];
    this.#schedule();
  }

  endPlateau(): void {
    clearInterval(this.#timer);
  }

  #schedule(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#sample(), this.#sampleMs);
  }

  async #sample(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const sample = await this.#read();
    this.#reading = false;
    if (sample === undefined) return;
    this.samples.push(sample);
    if (this.samples.length < MAX_SAMPLES) return;
    this.samples = this.samples.filter((_, index) => index % 2 === 0);
    this.#sampleMs *= 2;
    this.#schedule();
  }

  async #read(): Promise<Sample | undefined> {
    try {
      const response = await fetch(this.url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
      const text = await response.text();
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      if (text.length > MAX_ANSWER_BYTES) throw new Error("the answer is too long for metrics");
      this.problem = null;
      const read = (name: string) => sumOfMetric(text, name);
      return {
        atMs: performance.now(),
        residentBytes: read(RESIDENT),
        cpuSeconds: read(CPU),
        activeCalls: read(ACTIVE),
      };
    } catch (error) {
      this.problem = reasonOf(error);
      return undefined;
    }
  }
}

export function describeDeployment({ url, samples, problem }: DeploymentMonitor): DeploymentFigures {
  const memory = pointsOf(samples, ({ residentBytes }) => residentBytes);
  const cpu = pointsOf(samples, ({ cpuSeconds }) => cpuSeconds);
  const active = pointsOf(samples, ({ activeCalls }) => activeCalls);
  const [first, last] = [cpu[0], cpu.at(-1)];
  const cpuMs = first && last ? last.atMs - first.atMs : 0;
  return {
    url,
    residentBytes: memory.at(-1)?.value ?? null,
    slope: slopeOf(memory),
    cores: first && last && cpuMs > 0 ? ((last.value - first.value) * 1000) / cpuMs : null,
    maxActive: active.length === 0 ? null : Math.max(...active.map(({ value }) => value)),
    samples: samples.length,
    problem,
  };
}

/** Sum of a metric over all its labels, as several processes of one deployment have; `undefined` when it is absent. */
export function sumOfMetric(text: string, name: string): number | undefined {
  let sum: number | undefined;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const value = /^(?:\{.*\})?\s+(\S+)/.exec(line.slice(name.length))?.[1];
    if (value !== undefined && Number.isFinite(Number(value))) sum = (sum ?? 0) + Number(value);
  }
  return sum;
}

export interface Point {
  atMs: number;
  value: number;
}

function pointsOf(samples: readonly Sample[], read: (sample: Sample) => number | undefined): Point[] {
  return samples.flatMap((sample) => {
    const value = read(sample);
    return value === undefined ? [] : [{ atMs: sample.atMs, value }];
  });
}

/**
 * Least-squares slope with its 95 % interval. Memory readings resemble their neighbours, so the number of independent
 * ones is estimated from the residuals' autocorrelation at lag 1: n(1 − r)/(1 + r), after Santer et al. 2000,
 * https://doi.org/10.1029/1999JD901105.
 * @returns `null` with fewer than `MIN_INDEPENDENT` independent samples
 */
export function slopeOf(points: readonly Point[]): MemorySlope | null {
  const count = points.length;
  if (count < MIN_INDEPENDENT) return null;
  const meanAt = points.reduce((sum, { atMs }) => sum + atMs, 0) / count;
  const mean = points.reduce((sum, { value }) => sum + value, 0) / count;
  const spread = points.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0);
  const slope = points.reduce((sum, { atMs, value }) => sum + (atMs - meanAt) * (value - mean), 0) / spread;
  const residuals = points.map(({ atMs, value }) => value - mean - slope * (atMs - meanAt));
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0);
  const products = residuals
    .slice(1)
    .reduce((sum, residual, index) => sum + residual * (residuals[index] ?? 0), 0);
  const correlation = squares === 0 ? 0 : Math.max(0, products / squares);
  const independent = (count * (1 - correlation)) / (1 + correlation);
  if (independent < MIN_INDEPENDENT) return null;
  const error = Math.sqrt(squares / (independent - 2) / spread);
  return {
    bytesPerHour: slope * HOUR_MS,
    confidenceBytesPerHour: studentT(independent - 2) * error * HOUR_MS,
  };
}

/** Upper 2.5 % point of Student's t, by the expansion around the normal's (Abramowitz and Stegun 26.7.5). */
function studentT(degrees: number): number {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
