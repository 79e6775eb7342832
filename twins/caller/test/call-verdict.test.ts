import { expect, test } from "vitest";
import { callReportEvent, simulationMetadata } from "../call-verdict.ts";
import type { ObservedCall } from "../observed.ts";
import type { Scenario } from "../scenario-file.ts";

const MAX_BYTES = 64 * 1024;
const DIALLED = { speed: 2, framing: "json" } as const;

function scenarioOf(members: Partial<Scenario>): Scenario {
  return {
    name: "small",
    description: "A scenario.",
    file: "small.yaml",
    text: "name: small\n",
    framing: undefined,
    plan: { waitForCalleeFirst: true, steps: [] },
    given: {},
    faults: {},
    brain: [],
    expect: { outcome: "completed" },
    ...members,
  };
}

test.each(["/home/ada/calls/small.yaml", "calls\\small.yaml", "small.yaml"])(
  "of a scenario's file the name is kept, and no folder: %s",
  (file) => {
    expect(simulationMetadata(scenarioOf({ file }), DIALLED)).toEqual({
      scenario_file: "small.yaml",
      scenario_text: "name: small\n",
      ...DIALLED,
    });
  },
);

test("a scenario of more than 64 KB, in bytes, is kept whole or not at all", () => {
  const fits = "ü".repeat(MAX_BYTES / 2);
  expect(simulationMetadata(scenarioOf({ text: fits }), DIALLED).scenario_text).toBe(fits);
  expect(simulationMetadata(scenarioOf({ text: `${fits}x` }), DIALLED)).not.toHaveProperty("scenario_text");
});

test("however much failed and was said, a verdict is bounded, and says that texts are cut", () => {
  const long = "x".repeat(10_000);
  const many = Array.from({ length: 5_000 }, () => long);
  const call: ObservedCall = {
    report: {
      outcome: "completed",
      endedBy: "callee",
      reason: long,
      durationMs: 1,
      setupMs: null,
      turns: many.map(() => ({
        ...{ speaker: "callee", startMs: 0, endMs: 1, responseMs: null, interrupted: false },
      })),
      undone: [],
      missedInterruptions: [],
      endedInsideSample: false,
      pacing: {
        frames: 0,
        lateFrames: 0,
        speed: 1,
        slippedMs: 0,
        latenessP50Ms: 0,
        latenessP99Ms: 0,
        latenessMaxMs: 0,
      },
    },
    turns: many.map((text) => ({ speaker: "assistant", text, startMs: 0, endMs: 1, responseMs: null })),
    toolCalls: [],
    runtime: undefined,
    reported: undefined,
  };
  const { data } = callReportEvent(scenarioOf({}), call, {
    failures: many,
    unchecked: many,
    databaseRows: [],
  });
  expect(JSON.stringify(data).length).toBeLessThan(2 * 1024 * 1024);
  expect(data.passed).toBe(false);
  expect(data.failures).toContain(`${"x".repeat(999)}…`);
});
