/** What the time until an answer went by with. */
import { durationOf, type Line } from "./timeline.ts";
import type { Latency } from "./types.ts";

export interface Part {
  name: string;
  /** What the time went by with. */
  what: string;
  /** Time of the machine, or of the call for endpointing, which counts audio. */
  ms: number;
  /** What it took of the call: at ten times real time a second of computing is ten of audio. */
  audioMs: number;
}

/** @param toolMs how long tools ran before the answer, by the machine's time */
export function partsOf(latency: Latency, speed: number, toolMs: number): Part[] {
  const computed = (name: string, what: string, ms: number) => {
    const bounded = Math.max(0, ms);
    return { name, what, ms: bounded, audioMs: bounded * speed };
  };
  const endpointing = computed("endpointing", "until the turn counted as over", latency.endpointing_ms);
  const tool = Math.min(Math.max(0, toolMs), Math.max(0, latency.model_ms));
  const parts = [
    { ...endpointing, audioMs: endpointing.ms },
    computed("transcriber", "for the transcript", latency.transcriber_ms),
    computed("model", "for the model", latency.model_ms - tool),
    ...(tool > 0 ? [computed("tool", "for the tools", tool)] : []),
    computed("voice", "for the voice", latency.voice_ms),
  ];
  const otherMs = latency.turn_ms - parts.reduce((sum, { audioMs }) => sum + audioMs, 0);
  if (otherMs < MIN_OTHER_MS) return parts;
  return [...parts, { ...computed("other", "for what lies between", otherMs / speed), audioMs: otherMs }];
}

/** Rounding of the parts alone is no part. */
export const MIN_OTHER_MS = 5;

/** How long tools ran before each answer: since the caller, or another answer, was heard. */
export function toolTimes(lines: readonly Line[]): ReadonlyMap<Line, number> {
  const times = new Map<Line, number>();
  let toolMs = 0;
  let untilMs = 0;
  for (const line of lines) {
    if (line.kind !== "tool") {
      if (line.kind === "assistant") times.set(line, toolMs);
      [toolMs, untilMs] = [0, 0];
      continue;
    }
    // Of tools that run at the same time, the shared time counts once.
    const fromMs = Date.parse(line.call.recorded_at ?? "");
    const endMs = fromMs + (durationOf(line) ?? 0);
    if (Number.isNaN(endMs)) continue;
    toolMs += Math.max(0, endMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, endMs);
  }
  return times;
}

/** What the longest bar of a call stands for. */
export function longestOf(latencies: readonly Latency[], speed: number): number {
  const sums = latencies.map((latency) =>
    partsOf(latency, speed, 0).reduce((sum, { audioMs }) => sum + audioMs, 0),
  );
  return Math.max(0, ...sums);
}
