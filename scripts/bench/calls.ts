/** `bench calls`: what the agent adds to a call, beside a bare relay that adds the least. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startChild } from "@offhook/platform/testing/bench/child";
import {
  type BenchOptions,
  describeMachine,
  type Figure,
  type Report,
} from "@offhook/platform/testing/bench/report";
import { processorTime } from "./calls/cost.ts";
import { forwarding } from "./calls/forwarding.ts";
import { memoryPerCall } from "./calls/memory.ts";
import type { FarEndsQuestions } from "./calls/questions.ts";
import { type Plan, type Run, startProgramChild } from "./calls/run.ts";
import { setUpAtRate, setUpTime } from "./calls/set-up.ts";
import { toolWebhook } from "./calls/webhook.ts";

const plans: Record<BenchOptions["size"], Plan> = {
  quick: {
    setUps: 15,
    levels: [1, 100],
    rounds: 2,
    windowMs: 800,
    memoryCalls: 200,
    costRounds: 1,
    costWindows: 6,
    costWarmUpMs: 8_000,
    costWindowMs: 700,
    rateSetUps: 75,
    toolWindowMs: 1_000,
  },
  full: {
    setUps: 60,
    levels: [1, 50, 100, 200],
    rounds: 3,
    windowMs: 3_000,
    memoryCalls: 400,
    costRounds: 5,
    costWindows: 8,
    costWarmUpMs: 10_000,
    costWindowMs: 2_000,
    rateSetUps: 300,
    toolWindowMs: 3_000,
  },
};
const longestMs: Record<BenchOptions["size"], number> = { quick: 90_000, full: 720_000 };

const explanations = [
  "floor: a bare ws relay, and a bare express handler; measured: the agent; value: what the agent adds, unless it is a ratio.",
  "Delays are of both directions, each figure from the least disturbed of the rounds.",
];

/** Reports what was measured when its time was up. @throws Error when a program fails, or changes audio */
export async function bench(options: BenchOptions): Promise<Report> {
  const startedAt = performance.now();
  const machine = describeMachine();
  const children: { stop(): Promise<void> }[] = [];
  const folders: string[] = [];
  const notes = [...explanations];
  try {
    const figures: Figure[] = [];
    const measuring = measure(options, { children, folders, figures, notes });
    measuring.catch(() => {}); // Once time is up, the programs are stopped beneath it.
    const done = await Promise.race([measuring.then(() => true), outOfTime(options.size)]);
    if (!done)
      notes.push(`Not all was measured in ${longestMs[options.size] / 1000} s: the machine was too busy.`);
    const durationMs = Math.round(performance.now() - startedAt);
    return { bench: "calls", size: options.size, machine, durationMs, figures, notes };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

/** What a bench that runs out of time leaves to its end. */
interface Kept {
  children: { stop(): Promise<void> }[];
  folders: string[];
  figures: Figure[];
  notes: string[];
}

async function measure(
  { size, progress }: BenchOptions,
  { children, folders, figures, notes }: Kept,
): Promise<void> {
  const farEnds = startChild<FarEndsQuestions>(new URL("./calls/far-ends.ts", import.meta.url));
  children.push(farEnds);
  const toolSecret = randomBytes(16).toString("hex");
  const { runtimeUrl, collectorUrl } = await farEnds.ask("listen", {});
  const startProgram: Run["startProgram"] = async (name, options = {}) => {
    const child = startProgramChild(name);
    children.push(child);
    return { name, child, ...(await child.ask("start", { runtimeUrl, toolSecret, ...options })) };
  };
  const programs = { floor: await startProgram("floor"), agent: await startProgram("agent") };
  const run: Run = { plan: plans[size], progress, farEnds, programs, toolSecret, collectorUrl, startProgram };
  figures.push(...(await setUpTime(run)));
  figures.push(...(await setUpAtRate(run, notes)));
  const recordDir = await mkdtemp(path.join(tmpdir(), "offhook-bench-"));
  folders.push(recordDir);
  figures.push(...(await processorTime(run, recordDir, notes)));
  figures.push(...(await forwarding(run, notes)));
  figures.push(...(await memoryPerCall(run)));
  figures.push(...(await toolWebhook(run)));
}

function outOfTime(size: BenchOptions["size"]): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), longestMs[size]).unref();
  });
}
