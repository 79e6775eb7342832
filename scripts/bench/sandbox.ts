/** `bench sandbox`: what the platform of the twins costs, and how large and how many its sandboxes may be. */
import { rm } from "node:fs/promises";
import { startChild } from "@offhook/platform/testing/bench/child";
import {
  type BenchOptions,
  describeMachine,
  type Figure,
  figure,
  type Report,
} from "@offhook/platform/testing/bench/report";
import { writeEnvironment } from "./sandbox/environment.ts";
import type { SandboxQuestions } from "./sandbox/questions.ts";
import { requests } from "./sandbox/requests.ts";
import { type StatesPlan, states } from "./sandbox/states.ts";

interface Plan {
  load: { rounds: number; windowMs: number };
  journalled: number;
  statements: number;
  states: StatesPlan;
  sideBySide: SandboxQuestions["scenarios"]["ask"];
}

const plans: Record<BenchOptions["size"], Plan> = {
  quick: {
    load: { rounds: 2, windowMs: 1_000 },
    journalled: 20_000,
    statements: 500,
    states: { sizes: [10, 10_000], rounds: () => 3, patienceMs: 10_000 },
    sideBySide: { sandboxes: 10, speed: 4, spreadMs: 1_000 },
  },
  full: {
    load: { rounds: 4, windowMs: 3_000 },
    journalled: 100_000,
    statements: 3_000,
    states: {
      sizes: [10, 10_000, 1_000_000],
      rounds: (rows) => (rows > 10_000 ? 1 : 7),
      patienceMs: 60_000,
    },
    // Slowly, and not all at the same moment of their call: what is asked is whether they disturb one another.
    sideBySide: { sandboxes: 200, speed: 0.25, spreadMs: 60_000 },
  },
};
const longestMs: Record<BenchOptions["size"], number> = { quick: 58_000, full: 480_000 };
/** More than the default: a snapshot of a million rows is one JSON text. */
const heap = "--max-old-space-size=8192";
const journalAim = { kind: "at-most", limit: 50 } as const;

const explanations = [
  "floor: a bare express route in the same process; for statements, the same statement without the proxy.",
  "Times are medians; those of states are of whole requests to the control plane, answers read to their end.",
  "A database's creation and reset are copies of a template, which the first of its kind has made before.",
];

/** Reports what was measured when its time was up. @throws Error when a program fails */
export async function bench({ size, progress }: BenchOptions): Promise<Report> {
  const startedAt = performance.now();
  const machine = describeMachine();
  const figures: Figure[] = [];
  const notes = [...explanations];
  const children: { stop(): Promise<void> }[] = [];
  const program = () => {
    const child = startChild<SandboxQuestions>(new URL("./sandbox/sandbox-program.ts", import.meta.url), [
      heap,
    ]);
    children.push(child);
    return child;
  };
  try {
    const measuring = measure(plans[size], program, progress, figures, notes);
    measuring.catch(() => {}); // Once time is up, the programs are stopped beneath it.
    const done = await Promise.race([measuring.then(() => true), outOfTime(longestMs[size])]);
    if (!done) notes.push(`Not all was measured in ${longestMs[size] / 1000} s: the machine was too busy.`);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
  const durationMs = Math.round(performance.now() - startedAt);
  return { bench: "sandbox", size, machine, durationMs, figures, notes };
}

async function measure(
  plan: Plan,
  program: () => ReturnType<typeof startChild<SandboxQuestions>>,
  progress: BenchOptions["progress"],
  figures: Figure[],
  notes: string[],
): Promise<void> {
  const child = program();
  const { microsPerRequest } = await child.ask("journal", { requests: plan.journalled });
  progress(`journal: ${microsPerRequest.toFixed(1)} µs a request`);
  figures.push(alone("journal, a request of 1 KB", "µs", microsPerRequest, journalAim));

  const { directMicros, proxyMicros } = await child.ask("statements", { statements: plan.statements });
  progress(`a statement: ${directMicros.toFixed(0)} µs, ${proxyMicros.toFixed(0)} µs on record`);
  const value = proxyMicros - directMicros;
  figures.push(
    figure({ name: "a statement, p50", unit: "µs", floor: directMicros, measured: proxyMicros, value }),
  );

  const environment = await writeEnvironment(plan.states.sizes);
  try {
    const { baseUrl, apiKey, expressUrl } = await child.ask("start", { environmentFile: environment.file });
    await fetch(`${baseUrl}/sandboxes`, {
      method: "POST",
      headers: { "x-api-key": apiKey },
      body: JSON.stringify({ id: "load", services: [{ name: "rows" }] }),
    });
    const urls = { gateway: `${baseUrl}/s/load/rows/rows/1`, express: `${expressUrl}/rows/1` };
    figures.push(...(await requests(urls, plan.load, progress)));
    await states({ baseUrl, apiKey }, environment, plan.states, progress, figures);
    await child.stop();
  } finally {
    await rm(environment.folder, { recursive: true });
  }

  const { sandboxes } = plan.sideBySide;
  progress(`${sandboxes} scenarios side by side`);
  const sideBySide = await program().ask("scenarios", plan.sideBySide);
  const { passed, failures, openedMs, wallMs, mostAtOnce, cpuMs, rssBytes } = sideBySide;
  progress(`${passed} of ${sandboxes} passed in ${(wallMs / 1000).toFixed(1)} s`);
  figures.push(
    alone(`scenarios passed of ${sandboxes} side by side`, "", passed, {
      kind: "at-least",
      limit: sandboxes,
    }),
    alone("… calls at the same time, at most", "", mostAtOnce),
    alone("… processor time of one", "ms", cpuMs / sandboxes),
    alone("… a sandbox with its agent opened after", "ms", openedMs / sandboxes),
    alone("… memory of all in one process", "MB", rssBytes / 1024 ** 2),
  );
  notes.push(...failures.map((failure) => `A scenario failed: ${failure}`));
}

function alone(name: string, unit: string, value: number, aim?: Figure["aim"]): Figure {
  return figure({ name, unit, floor: null, measured: null, value, ...(aim ? { aim } : {}) });
}

function outOfTime(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
