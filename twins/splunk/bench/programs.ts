/** What the programs of `bench log-query` are asked. */
import type { Answer, FloorQuestions, TwinQuestions } from "@offhook/log-store/bench/questions";

export type SplTwinQuestions = TwinQuestions;

export interface SplFloorQuestions extends Pick<FloorQuestions, "load" | "extend" | "open"> {
  ask: { ask: { statement: string; values: readonly string[] }; answer: { rows: Answer; ms: number } };
}
