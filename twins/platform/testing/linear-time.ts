import { expect } from "vitest";
import { processorMsOf } from "./processor-time.ts";

/** Long enough that what looks through a text once for each of its characters takes seconds. */
export const LONG = 60_000;

/**
 * Fails when the work takes more than what goes over its text a few times: some milliseconds, against seconds (and minutes) of a
 * pattern that goes over it once for each of its characters.
 */
export function expectLinearTime(work: () => unknown): void {
  expect(processorMsOf(work)).toBeLessThan(300);
}
