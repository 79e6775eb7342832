/** `bench log-query`: the log-query twin over many events, beside plain DuckDB that is asked the same in SQL written by hand. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { writeDatasets } from "@offhook/log-store/bench/files";
import { openHouse } from "@offhook/log-store/bench/house";
import type { RunningTwin } from "@offhook/log-store/bench/questions";
import { type Child, startChild } from "@offhook/platform/testing/bench/child";
import {
  type BenchOptions,
  describeMachine,
  type Figure,
  figure,
  type Report,
} from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { exportSearch } from "./client.ts";
import { collectorRates } from "./collector.ts";
import type { SplFloorQuestions, SplTwinQuestions } from "./programs.ts";
import { type SplQuestion, splDifference, splQuestions } from "./questions.ts";

interface Plan {
  events: number;
  /** Rounds of each question, and the longest time spent on one; there are three in any case. */
  rounds: number;
  mostMs: number;
  /** Of the events that the collector is sent at full size. */
  collectorShare: number;
}

const plans: Record<BenchOptions["size"], Plan> = {
  quick: { events: 50_000, rounds: 5, mostMs: 1_000, collectorShare: 0.05 },
  full: { events: 1_000_000, rounds: 30, mostMs: 12_000, collectorShare: 1 },
};
const FEWEST_ROUNDS = 3;
const ratioAim = { kind: "at-most", limit: 1.5 } as const;

const explanations = [
  "floor: plain DuckDB with the memory and the threads of the twin's, the same question in SQL written by hand over columns, without",
  "HTTP. value of a question: its share of that. Both take turns, and their answers are compared.",
  "first row: until its first bytes have come. Events of the collector are lines of text, and can be found when they are answered.",
];

/** @throws Error when a program fails */
export async function bench(options: BenchOptions): Promise<Report> {
  const { size, progress } = options;
  const plan = plans[size];
  const startedAt = performance.now();
  const machine = describeMachine();
  const figures: Figure[] = [];
  const notes = [...explanations];
  const house = await openHouse();
  const twin = startChild<SplTwinQuestions>(new URL("./twin-program.ts", import.meta.url), [], house.folder);
  const floor = startChild<SplFloorQuestions>(
    new URL("./floor-program.ts", import.meta.url),
    [],
    house.folder,
  );
  try {
    progress(`${plan.events} events are being made`);
    const { files, facts } = await writeDatasets(house.folder, plan.events);
    const environmentFile = path.join(house.folder, "splunk.yaml");
    await writeFile(environmentFile, JSON.stringify({ version: 1, services: [{ name: "splunk" }] }));
    const running = await twin.ask("start", { environmentFile, datasetFolder: house.datasetFolder });
    figures.push(...(await collectorRates(running, plan.collectorShare, options)));
    figures.push(await memory(twin, "memory after the collector"));

    const database = path.join(house.folder, "events.duckdb");
    await floor.ask("load", { file: files.ndjson, format: "ndjson", database });
    await floor.ask("extend", { database });
    await floor.ask("open", { database });
    await uploadEvents(running, files.ndjson);
    for (const question of splQuestions(facts)) {
      const measured = await measure(question, running, floor, plan).catch((error: Error) => error);
      if (measured instanceof Error) {
        notes.push(`${question.name} was not measured: ${measured.message}`);
        progress(`${question.name}: ${measured.message}`);
      } else {
        figures.push(...measured);
        progress(
          `${question.name}: ${measured[0]?.measured?.toFixed(1)} ms, by hand ${measured[0]?.floor?.toFixed(1)}`,
        );
      }
    }
    figures.push(await memory(twin, "memory after the questions"));
  } finally {
    await Promise.all([twin.stop(), floor.stop()]);
    await house.close();
  }
  const durationMs = Math.round(performance.now() - startedAt);
  return { bench: "log-query", size, machine, durationMs, figures, notes };
}

/** They take turns, so that both have the same neighbours on the machine. @throws Error when they answer differently */
async function measure(
  question: SplQuestion,
  twin: RunningTwin,
  floor: Child<SplFloorQuestions>,
  { rounds, mostMs }: Plan,
): Promise<Figure[]> {
  const { name, search, statement, values = [], withinMs } = question;
  const times = { floor: [] as number[], first: [] as number[], whole: [] as number[] };
  const endsAt = performance.now() + mostMs;
  // The first round is not measured: both read what they need from the disk.
  for (let round = 0; round <= rounds; round++) {
    if (round > FEWEST_ROUNDS && performance.now() > endsAt) break;
    const byHand = await floor.ask("ask", { statement, values });
    const found = await exportSearch(twin, search);
    const differs = splDifference(question, found.rows, byHand.rows);
    if (differs) throw new Error(`the twin's answer is another than by hand: ${differs}`);
    if (round === 0) continue;
    times.floor.push(byHand.ms);
    times.first.push(found.firstMs);
    times.whole.push(found.ms);
  }
  const middle = (values: number[]) => percentile(values, 0.5);
  const [floorMs, wholeMs, firstMs] = [middle(times.floor), middle(times.whole), middle(times.first)];
  const whole = {
    name: `${name}, p50`,
    unit: "ms",
    floor: floorMs,
    measured: wholeMs,
    value: wholeMs / floorMs,
  };
  const first = { name: "… first row", unit: "ms", floor: null, measured: firstMs };
  return [
    figure({ ...whole, aim: ratioAim }),
    figure(
      withinMs === undefined
        ? { ...first, value: null }
        : { ...first, value: firstMs, aim: { kind: "at-most", limit: withinMs } },
    ),
  ];
}

/** The same events, under the twin's own index; what the collector was sent is gone. */
async function uploadEvents({ baseUrl, apiKey }: RunningTwin, file: string): Promise<void> {
  const { openAsBlob } = await import("node:fs");
  const response = await fetch(`${baseUrl}/environments/dev/datasets/splunk`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/x-ndjson" },
    body: await openAsBlob(file),
  });
  if (response.status !== 201) throw new Error(`the upload was refused: ${await response.text()}`);
}

async function memory(twin: Child<SplTwinQuestions>, name: string): Promise<Figure> {
  const { rssBytes } = await twin.ask("memory", {});
  return figure({ name, unit: "MB", floor: null, measured: null, value: rssBytes / 1024 ** 2 });
}
