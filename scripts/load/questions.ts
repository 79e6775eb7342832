/** What the load test asks its processes of callers. */
import type { CallerOptions, CallerWindow, Level } from "./callers.ts";

export interface CallerQuestions {
  /** Reads the scenario. */
  prepare: { ask: CallerPlan; answer: null };
  setLevel: { ask: Level; answer: null };
  take: { ask: Record<string, never>; answer: CallerWindow };
  /** Hangs up everything; answers when the calls are over. */
  finish: { ask: Record<string, never>; answer: null };
}

/** What the callers of every process do. */
export interface CallerPlan extends Omit<CallerOptions, "plan" | "closeCode" | "traced"> {
  scenarioFile: string;
}
