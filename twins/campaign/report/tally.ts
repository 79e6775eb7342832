/** Counts the records of a campaign, one at a time, by scenario and variant: what a report needs of them. */
import type { CallRecord } from "../records.ts";
import { type FailureVerdict, FailureWords } from "./failure-words.ts";

/** The calls of a scenario under a variant. */
export interface CellTally {
  scenario: string;
  variant: string;
  passed: number;
  failed: number;
  errors: number;
  /** Calls that a busy machine held up; their response times are left out below. */
  heldUp: number;
  /** Of every turn that answers the caller. */
  responseMs: number[];
  /** The median response of each call that has one: the turns of a call are alike, so calls are what tests compare. */
  callResponseMs: number[];
  durationMs: number;
  /** Calls by the key of a reason. */
  failures: Map<string, number>;
}

/** The records of a campaign, counted. */
export class Tally {
  readonly words = new FailureWords();
  readonly #cells = new Map<string, CellTally>();
  /** ISO 8601; of the calls so far. */
  firstStartedAt: string | null = null;
  lastEndedAt: string | null = null;

  add(record: CallRecord): void {
    const { verdict, responseMs, failures, startedAt, endedAt } = record;
    const cell = this.cell(record.scenario, record.variant);
    if (verdict === "passed") cell.passed += 1;
    else if (verdict === "failed") cell.failed += 1;
    else cell.errors += 1;
    cell.durationMs += record.durationMs;
    if (record.heldUp) cell.heldUp += 1;
    else addResponses(cell, responseMs);
    if (verdict !== "passed") this.#countFailures(cell, verdict, failures);
    if (this.firstStartedAt === null || startedAt < this.firstStartedAt) this.firstStartedAt = startedAt;
    if (this.lastEndedAt === null || endedAt > this.lastEndedAt) this.lastEndedAt = endedAt;
  }

  #countFailures(cell: CellTally, verdict: FailureVerdict, failures: readonly string[]): void {
    for (const key of new Set(failures.map((failure) => this.words.add(failure, verdict)))) {
      cell.failures.set(key, (cell.failures.get(key) ?? 0) + 1);
    }
  }

  /** The calls of a scenario under a variant, so far. */
  cell(scenario: string, variant: string): CellTally {
    // No name has a line break.
    const key = `${scenario}\n${variant}`;
    const known = this.#cells.get(key);
    if (known) return known;
    const cell: CellTally = {
      scenario,
      variant,
      passed: 0,
      failed: 0,
      errors: 0,
      heldUp: 0,
      responseMs: [],
      callResponseMs: [],
      durationMs: 0,
      failures: new Map(),
    };
    this.#cells.set(key, cell);
    return cell;
  }

  /** The scenarios and variants that have calls. */
  cells(): CellTally[] {
    return [...this.#cells.values()];
  }
}

/** Records of a campaign, in any order. */
export type Records = Iterable<CallRecord> | AsyncIterable<CallRecord>;

/** Counts the records of a campaign. */
export async function tallyOf(records: Records): Promise<Tally> {
  const tally = new Tally();
  for await (const record of records) tally.add(record);
  return tally;
}

function addResponses(cell: CellTally, responseMs: readonly number[]): void {
  cell.responseMs.push(...responseMs);
  const median = medianOf(responseMs);
  if (median !== null) cell.callResponseMs.push(median);
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const ascending = values.toSorted((a, b) => a - b);
  const [lower = 0, upper = 0] = [ascending[(ascending.length - 1) >> 1], ascending[ascending.length >> 1]];
  return (lower + upper) / 2;
}
