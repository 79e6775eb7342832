/** `bench soak`: whether the agent's memory and descriptors grow while calls come, speak in real time, and go. */
import { randomBytes } from "node:crypto";
import { startChild } from "@offhook/platform/testing/bench/child";
import {
  type BenchOptions,
  describeMachine,
  type Figure,
  figure,
  type Report,
} from "@offhook/platform/testing/bench/report";
import { z } from "zod";
import { fitSlope } from "../shared/slope.ts";
import type { FarEndsQuestions, ProgramQuestions } from "./calls/questions.ts";
import { startProgramChild } from "./calls/run.ts";

const aimMegabytesPerHour = 1;
const bytesPerMegabyte = 1024 * 1024;
/** The heap, the code and the pools grow to their working size first; this share of the time is not fitted. */
const warmUpShare = 0.2;

const settings = z.object({
  SOAK_MINUTES: z.coerce
    .number()
    .positive()
    .max(24 * 60)
    .default(30),
  SOAK_CALLS: z.coerce.number().int().positive().max(1_000).default(60),
});

/** Calls stay open for `windowMs`, then this share of them hangs up and others come. */
const renewedShare = 0.25;

type Sample = ProgramQuestions["memory"]["answer"] & { atMs: number };

/** @throws Error when a setting is wrong, a program fails, or audio is changed */
export async function bench({ size, progress }: BenchOptions): Promise<Report> {
  const { SOAK_MINUTES, SOAK_CALLS } = settings.parse(process.env);
  const plan =
    size === "quick"
      ? { calls: 20, durationMs: 45_000, windowMs: 1_500 }
      : { calls: SOAK_CALLS, durationMs: SOAK_MINUTES * 60_000, windowMs: 10_000 };
  const startedAt = performance.now();
  const machine = describeMachine();
  const farEnds = startChild<FarEndsQuestions>(new URL("./calls/far-ends.ts", import.meta.url));
  const agent = startProgramChild("agent");
  try {
    const { runtimeUrl } = await farEnds.ask("listen", {});
    const toolSecret = randomBytes(16).toString("hex");
    const { voiceUrl } = await agent.ask("start", { runtimeUrl, toolSecret });
    await farEnds.ask("open", { voiceUrl, calls: plan.calls });
    const samples: Sample[] = [];
    let frames = 0;
    let placed = plan.calls;
    while (performance.now() - startedAt < plan.durationMs) {
      const window = await farEnds.ask("stream", {
        voiceUrl,
        from: 0,
        calls: plan.calls,
        durationMs: plan.windowMs,
      });
      if (window.changed > 0) throw new Error(`The agent changed ${window.changed} frames on their way.`);
      frames += window.sent;
      const sample = { ...(await agent.ask("memory", {})), atMs: performance.now() - startedAt };
      samples.push(sample);
      progress(
        `${(sample.atMs / 60_000).toFixed(1)} min, ${placed} calls, ${frames} frames: heap ${megabytes(sample.heapBytes)} MB, resident ${megabytes(sample.rssBytes)} MB, ${sample.descriptors} descriptors`,
      );
      const renewed = Math.ceil(plan.calls * renewedShare);
      await farEnds.ask("renew", { voiceUrl, calls: renewed });
      placed += renewed;
    }
    const notes = [
      `${plan.calls} calls at a time in real time, both ways; ${placed} calls and ${frames} frames in all. After each ${plan.windowMs / 1000} s a quarter of the calls hangs up and others come.`,
      `floor: the first sample after ${warmUpShare * 100} % of the time; measured: the last; value: MB an hour, fitted. Memory is taken after a garbage collection.`,
    ];
    const figures = figuresOf(
      samples.filter(({ atMs }) => atMs > plan.durationMs * warmUpShare),
      notes,
    );
    const durationMs = Math.round(performance.now() - startedAt);
    return { bench: "soak", size, machine, durationMs, figures, notes };
  } finally {
    await Promise.all([farEnds.stop(), agent.stop()]);
  }
}

function figuresOf(samples: readonly Sample[], notes: string[]): Figure[] {
  const [first, last] = [samples.at(0), samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error("there was no time for a sample");
  const growing = (name: string, member: "heapBytes" | "rssBytes", aim: Pick<Figure, "aim">) => {
    const slope = fitSlope(
      samples.map((sample) => ({ atMs: sample.atMs, value: sample[member] / bytesPerMegabyte })),
    );
    notes.push(
      slope === null
        ? `${name}: the samples are too few, or too alike, for a slope.`
        : `${name}: ${slope.perHour.toFixed(2)} ± ${slope.marginPerHour.toFixed(2)} MB an hour (95 %).`,
    );
    return figure({
      name,
      unit: "MB",
      floor: first[member] / bytesPerMegabyte,
      measured: last[member] / bytesPerMegabyte,
      value: slope?.perHour ?? null,
      ...aim,
    });
  };
  return [
    growing("heap after a collection", "heapBytes", {
      aim: { kind: "at-most", limit: aimMegabytesPerHour },
    }),
    growing("resident memory", "rssBytes", {}),
    figure({
      name: "descriptors",
      unit: "",
      floor: first.descriptors,
      measured: last.descriptors,
      value: last.descriptors - first.descriptors,
      aim: { kind: "at-most", limit: 0 },
    }),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / bytesPerMegabyte).toFixed(1);
}
