/** Campaigns and records for the tests of reports. */
import { type CallRecord, type Campaign, specSchema } from "../../records.ts";

/** A campaign of two scenarios and two variants, ended, unless told otherwise. */
export function campaignOf(changes: Partial<Omit<Campaign, "spec">> & { spec?: object } = {}): Campaign {
  const { spec: given = {}, ...others } = changes;
  const spec = specSchema.parse({
    scenarios: ["open-incident", "who-is-on-call"],
    repeat: 10,
    variants: [{ name: "binary" }, { name: "json", framing: "json" }],
    ...given,
  });
  return {
    id: "c1",
    name: "nightly",
    createdAt: "2026-11-20T22:00:00.000Z",
    endedAt: "2026-11-20T22:10:00.000Z",
    cancelled: false,
    baseline: null,
    spec,
    expectedCalls: spec.scenarios.length * spec.variants.length * spec.repeat,
    ...others,
  };
}

/** Calls of a cell, of which some passed, some failed and some could not be judged. */
export interface SomeCalls {
  scenario: string;
  variant: string;
  passed?: number;
  failed?: number;
  errors?: number;
  /** Of a failed call, by its number. */
  failureOf?: (repeat: number) => readonly string[];
  responseOf?: (repeat: number) => readonly number[];
  /** Of a call, by its number; default: none is held up. */
  isHeldUp?: (repeat: number) => boolean;
}

/** The records of such calls. */
export function recordsOf({ passed = 0, failed = 0, errors = 0, ...cell }: SomeCalls): CallRecord[] {
  const {
    failureOf = () => ["outcome: expected completed, found stalled"],
    responseOf = () => [800, 900],
    isHeldUp = () => false,
  } = cell;
  const verdicts = [
    ...Array<"passed">(passed).fill("passed"),
    ...Array<"failed">(failed).fill("failed"),
    ...Array<"error">(errors).fill("error"),
  ];
  return verdicts.map((verdict, index) => ({
    scenario: cell.scenario,
    variant: cell.variant,
    repeat: index + 1,
    verdict,
    failures: { passed: [], failed: failureOf(index + 1), error: ["no agent answered"] }[verdict],
    outcome: verdict === "error" ? null : "completed",
    durationMs: 12_000,
    responseMs: verdict === "error" ? [] : responseOf(index + 1),
    heldUp: isHeldUp(index + 1),
    toolCalls: [],
    startedAt: "2026-11-20T22:01:00.000Z",
    endedAt: "2026-11-20T22:01:12.000Z",
    worker: "w1",
    attempts: 1,
  }));
}
