/** What a deployment says of itself at its metrics address: memory and its slope, processor time, calls. */
import { reasonOf } from "@offhook/platform/base/reason";
import { fitSlope, type Point } from "../shared/slope.ts";

/** A metrics address that does not answer with metrics. */
export class DeploymentError extends Error {
  override name = "DeploymentError";
}

export interface DeploymentFigures {
  url: string;
  /** Resident memory at the end of the plateau; `null` when the deployment does not say. */
  residentBytes: number | null;
  /** Growth of the resident memory over the plateau, without its first fifth. */
  growth: Growth;
  /** Processor cores in use, on average; `null` when the deployment does not say. */
  cores: number | null;
  /** Calls it had at most. */
  maxActive: number | null;
  samples: number;
  /** Why the address did not answer the last time. */
  problem: string | null;
}

/** What is known of the growth: its 95 % interval is the slope ± the margin. */
export type Growth =
  | { kind: "measured"; bytesPerHour: number; marginBytesPerHour: number }
  | { kind: "too-short" | "too-few-samples" };

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
/** A process grows to its working size first: a slope of less time is that of its start. */
const LEAST_PLATEAU_MS = 10 * 60_000;
/** This share of the plateau is not fitted, for the same reason. */
const WARM_UP_SHARE = 0.2;

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
    growth: growthOf(memory),
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

function pointsOf(samples: readonly Sample[], read: (sample: Sample) => number | undefined): Point[] {
  return samples.flatMap((sample) => {
    const value = read(sample);
    return value === undefined ? [] : [{ atMs: sample.atMs, value }];
  });
}

export function growthOf(memory: readonly Point[]): Growth {
  const [first, last] = [memory[0], memory.at(-1)];
  const durationMs = first && last ? last.atMs - first.atMs : 0;
  if (first === undefined || durationMs < LEAST_PLATEAU_MS) return { kind: "too-short" };
  const slope = fitSlope(memory.filter(({ atMs }) => atMs - first.atMs >= durationMs * WARM_UP_SHARE));
  if (slope === null) return { kind: "too-few-samples" };
  return { kind: "measured", bytesPerHour: slope.perHour, marginBytesPerHour: slope.marginPerHour };
}
