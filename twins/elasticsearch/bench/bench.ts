/** `bench search`: the search twin over many events, beside plain DuckDB that is asked the same in SQL written by hand. */

import { writeDatasets, writeEnvironment } from "@offhook/log-store/bench/files";
import { type House, openHouse } from "@offhook/log-store/bench/house";
import type { TwinQuestions } from "@offhook/log-store/bench/questions";
import {
  type BenchOptions,
  describeMachine,
  type Figure,
  figure,
  type Report,
} from "@offhook/platform/testing/bench/report";
import { bulk } from "./bulk.ts";
import { type LatencyPlan, latencies } from "./latency.ts";
import { startFloor, startTwin } from "./programs.ts";
import { startUp } from "./start-up.ts";
import { uploads } from "./uploads.ts";

interface Plan {
  events: number;
  latency: LatencyPlan;
  /** Of each number of clients. */
  bulkBatches: number;
  starts: number;
}

const plans: Record<BenchOptions["size"], Plan> = {
  quick: { events: 100_000, latency: { rounds: 12, mostMs: 1_000 }, bulkBatches: 5, starts: 2 },
  full: { events: 1_000_000, latency: { rounds: 100, mostMs: 12_000 }, bulkBatches: 50, starts: 5 },
};
const longestMs: Record<BenchOptions["size"], number> = { quick: 58_000, full: 475_000 };
const memoryAim = { kind: "at-most", limit: 400 } as const;

const explanations = [
  "floor: plain DuckDB with the memory and the threads of the twin's; its own reader of the same file, the same question in SQL",
  "written by hand over columns and a sorted table of words, without HTTP. value of a question: its share of that.",
  "The twin keeps in how many events a word or a value is until something is written, and the statements it has prepared; by hand",
  "each question is asked from the beginning. What is kept is there when the measured rounds begin.",
  "Both take turns, and their answers are compared. Memory is of the process that did all of it: uploads, questions, writes.",
];

/**
 * Reports what was measured when its time was up. @throws Error when a program fails, or when it is interrupted
 * @public found by `npm run bench`
 */
export async function bench(options: BenchOptions): Promise<Report> {
  const { size } = options;
  const startedAt = performance.now();
  const machine = describeMachine();
  const figures: Figure[] = [];
  const notes = [...explanations];
  const house = await openHouse();
  const ending = endOf(longestMs[size]);
  try {
    const measuring = measure(house, plans[size], options, figures, notes);
    measuring.catch(() => {}); // Once time is up, the programs are stopped beneath it.
    const done = await Promise.race([measuring.then(() => true), ending.reached]);
    if (!done) notes.push(`Not all was measured in ${longestMs[size] / 1000} s: the machine was too busy.`);
  } finally {
    ending.forget();
    await house.close();
  }
  const durationMs = Math.round(performance.now() - startedAt);
  return { bench: "search", size, machine, durationMs, figures, notes };
}

async function measure(
  house: House,
  plan: Plan,
  options: BenchOptions,
  figures: Figure[],
  notes: string[],
): Promise<void> {
  const { folder, datasetFolder } = house;
  options.progress(`${plan.events} events are being made`);
  const datasets = await writeDatasets(folder, plan.events);
  const twin = startTwin(house);
  const floor = startFloor(house);
  const empty = await writeEnvironment(folder, "empty.yaml");
  const running = await twin.ask("start", { environmentFile: empty, datasetFolder });

  const uploaded = await uploads(datasets, running, floor, folder, options);
  figures.push(...uploaded.figures, await memory(twin, "memory after the uploads"));
  const { database } = uploaded;
  const { ms } = await floor.ask("extend", { database });
  options.progress(`plain DuckDB is prepared for the questions in ${(ms / 1000).toFixed(1)} s`);
  await floor.ask("open", { database });

  figures.push(...(await latencies(datasets.facts, running, floor, plan.latency, options, notes)));
  figures.push(await memory(twin, "memory after the questions"));
  figures.push(...(await bulk(running, plan.bulkBatches, options)));
  figures.push(await memory(twin, "memory after all of it", memoryAim));
  const { peakBytes } = await twin.ask("memory", {});
  figures.push(alone("… and at most", megabytes(peakBytes)));
  await Promise.all([twin.stop(), floor.stop()]);

  const environmentFile = await writeEnvironment(folder, "filled.yaml", datasets.files.ndjson);
  const given = { environmentFile, database, facts: datasets.facts };
  figures.push(...(await startUp(house, given, plan.starts, options)));
}

async function memory(
  twin: ReturnType<typeof startTwin>,
  name: string,
  aim?: Figure["aim"],
): Promise<Figure> {
  const { rssBytes }: TwinQuestions["memory"]["answer"] = await twin.ask("memory", {});
  return alone(name, megabytes(rssBytes), aim);
}

function alone(name: string, value: number, aim?: Figure["aim"]): Figure {
  return figure({ name, unit: "MB", floor: null, measured: null, value, ...(aim ? { aim } : {}) });
}

function megabytes(bytes: number): number {
  return bytes / 1024 ** 2;
}

/** `false` once the time is up; rejects when somebody stops the bench. */
function endOf(ms: number): { reached: Promise<false>; forget(): void } {
  const signals = ["SIGINT", "SIGTERM"] as const;
  let forget = () => {};
  const reached = new Promise<false>((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), ms);
    const interrupted = (signal: NodeJS.Signals) => reject(new Error(`interrupted by ${signal}`));
    for (const signal of signals) process.once(signal, interrupted);
    forget = () => {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, interrupted);
    };
  });
  return { reached, forget };
}
