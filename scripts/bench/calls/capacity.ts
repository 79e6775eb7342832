/** The largest number of real-time calls at which no frame is late. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import type { StreamFigures } from "./questions.ts";
import { both, type Program, type Run, type Side, shown, stream } from "./run.ts";

const lateMs = 20;
const aimShare = 0.9;
const firstLevel = 50;
const attempts = 4;
const lastLevel = 2_000;

export async function largestNumberOfCalls(run: Run, notes: string[]): Promise<Figure[]> {
  const reached: Side<number[]> = { floor: [], agent: [] };
  const lateSenders: string[] = [];
  for (let ramp = 1; ramp <= run.plan.ramps; ramp++) {
    for (const program of both(run.programs)) {
      const end = await rampUp(run, program, `ramp ${ramp}`);
      reached[program.name].push(end.calls);
      if (end.senderLate) lateSenders.push(`${program.name} beyond ${end.calls}`);
    }
  }
  const [floor, agent] = [Math.max(...reached.floor), Math.max(...reached.agent)];
  notes.push(
    `largest number of calls: the better of ${run.plan.ramps} ramp(s); floor ${reached.floor.join(", ")}; agent ${reached.agent.join(", ")}.`,
  );
  if (lateSenders.length > 0) {
    notes.push(
      `There the far ends were late themselves (${lateSenders.join("; ")}): the machine was the limit, so there is no verdict.`,
    );
  }
  const verdict = lateSenders.length > 0 ? {} : { aim: { kind: "at-least", limit: aimShare } as const };
  return [
    figure({
      name: `calls with no frame ${lateMs} ms late`,
      unit: "calls",
      floor,
      measured: agent,
      value: null,
    }),
    figure({
      name: "… share of the floor's",
      unit: "ratio",
      floor: null,
      measured: null,
      value: floor > 0 ? agent / floor : null,
      ...verdict,
    }),
  ];
}

/**
 * Adds calls until a frame is late, in large steps first and then, from the last good level, in smaller ones; answers the
 * last level at which none was late.
 */
async function rampUp(
  run: Run,
  program: Program,
  label: string,
): Promise<{ calls: number; senderLate: boolean }> {
  const { farEnds, plan, progress } = run;
  const { voiceUrl, name } = program;
  await farEnds.ask("hangUp", { voiceUrl });
  let reached = 0;
  let tooMany = lastLevel;
  let senderLate = false;
  for (const step of plan.rampSteps) {
    for (let calls = nextLevel(reached, step); calls < tooMany; calls = nextLevel(reached, step)) {
      const window = await settledWindow(run, program, calls);
      progress(`${label}, ${calls} calls, ${name}: ${shown(window)}`);
      if (isLate(window)) {
        tooMany = calls;
        senderLate = isSenderLate(window);
      } else reached = calls;
    }
  }
  await farEnds.ask("hangUp", { voiceUrl });
  return { calls: reached, senderLate };
}

function nextLevel(calls: number, step: number): number {
  return calls === 0 ? firstLevel : Math.ceil(calls * step);
}

/**
 * A level fails when it fails twice: the first time it may have been something else on the machine. Windows in which the
 * far ends were late themselves say nothing about the program, so they are taken again, a few times.
 */
async function settledWindow(
  { farEnds, plan }: Run,
  program: Program,
  calls: number,
): Promise<StreamFigures> {
  let failures = 0;
  for (let attempt = 1; ; attempt++) {
    const window = await stream(farEnds, program, calls, plan.rampWindowMs);
    if (!isLate(window) || attempt === attempts) return window;
    if (!isSenderLate(window)) failures++;
    if (failures === 2) return window;
  }
}

function isSenderLate(window: StreamFigures): boolean {
  return window.senderLateMs > lateMs / 2;
}

function isLate(window: StreamFigures): boolean {
  return window.maxMs > lateMs || window.lost > 0;
}
