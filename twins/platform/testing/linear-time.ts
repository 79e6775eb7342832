import { expect } from "vitest";
import { processorMsOf } from "./processor-time.ts";

/** Long enough that quadratic work takes seconds. */
export const LONG = 60_000;

/**
 * Fails when the work is not linear in its text: linear work takes milliseconds, quadratic work seconds or minutes.
 */
export function expectLinearTime(work: () => unknown): void {
  expect(processorMsOf(work)).toBeLessThan(300);
}
