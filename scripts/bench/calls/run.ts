/** What the measurements of one run of `bench calls` share. */
import { type Child, startChild } from "@offhook/platform/testing/bench/child";
import type { BenchOptions } from "@offhook/platform/testing/bench/report";
import type { FarEndsQuestions, ProgramOptions, ProgramQuestions, StreamFigures } from "./questions.ts";

/** The same thing of both programs. */
export interface Side<T> {
  floor: T;
  agent: T;
}

/** A program under measurement, alone in its process. */
export interface Program {
  name: keyof Side<unknown>;
  child: Child<ProgramQuestions>;
  voiceUrl: string;
  toolUrl: string;
}

/** A program's process: the agent's with the young generation that `npm start` gives it. */
export function startProgramChild(name: Program["name"]): Child<ProgramQuestions> {
  const options = name === "agent" ? ["--max-semi-space-size=4"] : [];
  return startChild(new URL(`./${name}-program.ts`, import.meta.url), ["--expose-gc", ...options]);
}

/** How much is measured. */
export interface Plan {
  setUps: number;
  levels: number[];
  rounds: number;
  windowMs: number;
  memoryCalls: number;
  /** Rounds of new processes in which processor time a frame is taken, and the windows of each. */
  costRounds: number;
  costWindows: number;
  costWarmUpMs: number;
  costWindowMs: number;
  /** Calls that are set up at a fixed rate, in each turn. */
  rateSetUps: number;
  toolWindowMs: number;
}

export interface Run {
  plan: Plan;
  progress: BenchOptions["progress"];
  farEnds: Child<FarEndsQuestions>;
  programs: Side<Program>;
  toolSecret: string;
  /** Where OTLP over HTTP is taken. */
  collectorUrl: string;
  startProgram(name: keyof Side<unknown>, options?: ProgramOptions): Promise<Program>;
}

/** Far ends that send later than this measure the machine's other work. */
const DISTURBED_MS = 10;

/** Whether the load itself was always in time, so that a window's delays are the program's. */
export function isUndisturbed({ senderLateMs }: StreamFigures): boolean {
  return senderLateMs <= DISTURBED_MS;
}

/** Whether the load was in time but for single stalls, which change the delay of a few frames and not what one costs. */
export function isInTime({ senderLateP99Ms }: StreamFigures): boolean {
  return senderLateP99Ms <= DISTURBED_MS;
}

/** Both, the floor first: they take turns, so that both have the same neighbours on the machine. */
export function both<T>({ floor, agent }: Side<T>): T[] {
  return [floor, agent];
}

/** Streams over so many calls of a program, which are opened if they are not open, leaving out the first `from`. */
export async function stream(
  farEnds: Run["farEnds"],
  program: Program,
  calls: number,
  durationMs: number,
  from = 0,
): Promise<StreamFigures> {
  const { voiceUrl, name } = program;
  await farEnds.ask("open", { voiceUrl, calls: from + calls });
  const window = await farEnds.ask("stream", { voiceUrl, from, calls, durationMs });
  if (window.changed > 0) {
    throw new Error(`The ${name} changed ${window.changed} of ${window.frames} frames on their way.`);
  }
  return window;
}

export function shown(window: StreamFigures): string {
  const [p50, p99, max, sender] = [window.p50Ms, window.p99Ms, window.maxMs, window.senderLateMs].map((ms) =>
    ms.toFixed(2),
  );
  return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms, lost ${window.lost} (sender late by ${sender} ms at most)`;
}
