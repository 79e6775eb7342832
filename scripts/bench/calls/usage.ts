/** What a program has used so far. */
import { readdirSync } from "node:fs";
import type { ProgramQuestions } from "./questions.ts";

export async function cpu(): Promise<ProgramQuestions["cpu"]["answer"]> {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}

/** Needs `--expose-gc`, so that garbage is not counted as memory per call. */
export async function memory(): Promise<ProgramQuestions["memory"]["answer"]> {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const descriptors = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return { rssBytes: rss, heapBytes: heapUsed + external, descriptors };
}
