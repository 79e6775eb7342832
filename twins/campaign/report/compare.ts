/** Compares a campaign with a baseline, cell by cell, and tells differences from chance. */
import type { Campaign } from "../records.ts";
import {
  adjust,
  type Counts,
  fisherTest,
  mantelHaenszelTest,
  quantileOf,
  rankSumTest,
  sumBy,
  type TestResult,
} from "./statistics.ts";
import type { CellTally } from "./tally.ts";

/** The chance, at most, that anything is called beyond chance which is not. */
export const LEVEL = 0.05;

/** A difference with its p-value, adjusted for all that were looked for. */
interface Finding {
  /** As if it were the only one. */
  pValue: number;
  adjustedPValue: number;
  beyondChance: boolean;
}

/** A cell that both campaigns have judged calls of. */
export interface CellComparison extends Finding {
  scenario: string;
  variant: string;
  passed: number;
  judged: number;
  baselinePassed: number;
  baselineJudged: number;
  /** Of the pass rates: negative when fewer calls pass than in the baseline. */
  difference: number;
  /** `null` when nobody was answered in one of them, or their speeds differ. */
  response: ResponseComparison | null;
}

/** Medians over the calls' own medians, in milliseconds. */
interface ResponseComparison extends Finding {
  p50Ms: number;
  baselineP50Ms: number;
  differenceMs: number;
}

/** Which cell of a campaign it is. */
export interface CellKey {
  scenario: string;
  variant: string;
}

/** The pass rates over all cells that both have. */
interface OverallComparison {
  passed: number;
  judged: number;
  baselinePassed: number;
  baselineJudged: number;
  pValue: number;
  beyondChance: boolean;
}

export interface Comparison {
  baseline: { id: string; name: string };
  level: number;
  /** `null` when no cell has a counterpart. */
  overall: OverallComparison | null;
  cells: CellComparison[];
  /** Without judged calls in the baseline, and without ones here. */
  onlyHere: CellKey[];
  onlyBaseline: CellKey[];
}

/** A campaign with its calls by cell. */
interface Sides {
  campaign: Campaign;
  tallies: readonly CellTally[];
}

/** Compares the calls of a campaign with those of a baseline: cells of the same scenario and variant. */
export function compare(here: Sides, baseline: Sides): Comparison {
  const judgedHere = here.tallies.filter(isJudged);
  const others = new Map(baseline.tallies.filter(isJudged).map((cell) => [keyOf(cell), cell]));
  const pairs = judgedHere.flatMap((cell) => {
    const other = others.get(keyOf(cell));
    return other ? [{ cell, other, counts: countsOf(cell, other) }] : [];
  });
  const shared = new Set(pairs.map(({ cell }) => keyOf(cell)));
  const verdicts = findingsOf(pairs.map(({ counts }) => fisherTest(counts)));
  const timed = pairs.filter(({ cell, other }) => areTimesComparable(here, baseline, cell, other));
  const times = findingsOf(
    timed.map(({ cell, other }) => rankSumTest(cell.callResponseMs, other.callResponseMs)),
  );
  const responses = new Map(
    timed.map(({ cell, other }, index) => [cell, responseComparison(cell, other, times[index])]),
  );
  return {
    baseline: { id: baseline.campaign.id, name: baseline.campaign.name },
    level: LEVEL,
    overall: overall(pairs.map(({ counts }) => counts)),
    cells: pairs.map(({ cell, counts }, index) => ({
      scenario: cell.scenario,
      variant: cell.variant,
      passed: counts.passed,
      judged: counts.trials,
      baselinePassed: counts.otherPassed,
      baselineJudged: counts.otherTrials,
      difference: counts.passed / counts.trials - counts.otherPassed / counts.otherTrials,
      ...(verdicts[index] ?? NO_FINDING),
      response: responses.get(cell) ?? null,
    })),
    onlyHere: judgedHere.filter((cell) => !shared.has(keyOf(cell))).map(cellKey),
    onlyBaseline: [...others.values()].filter((cell) => !shared.has(keyOf(cell))).map(cellKey),
  };
}

const NO_FINDING: Finding = { pValue: 1, adjustedPValue: 1, beyondChance: false };

function findingsOf(tests: readonly TestResult[]): Finding[] {
  const adjusted = adjust(tests, LEVEL);
  return tests.map(({ pValue }, index) => {
    const adjustedPValue = adjusted[index] ?? 1;
    return { pValue, adjustedPValue, beyondChance: adjustedPValue <= LEVEL };
  });
}

function overall(counts: readonly Counts[]): OverallComparison | null {
  if (counts.length === 0) return null;
  const pValue = mantelHaenszelTest(counts);
  return {
    passed: sumBy(counts, ({ passed }) => passed),
    judged: sumBy(counts, ({ trials }) => trials),
    baselinePassed: sumBy(counts, ({ otherPassed }) => otherPassed),
    baselineJudged: sumBy(counts, ({ otherTrials }) => otherTrials),
    pValue,
    beyondChance: pValue <= LEVEL,
  };
}

function responseComparison(cell: CellTally, other: CellTally, finding = NO_FINDING): ResponseComparison {
  const [p50Ms, baselineP50Ms] = [medianCallMs(cell), medianCallMs(other)];
  return { p50Ms, baselineP50Ms, differenceMs: p50Ms - baselineP50Ms, ...finding };
}

/** Of a cell that has such calls. */
function medianCallMs({ callResponseMs }: CellTally): number {
  const ascending = callResponseMs.toSorted((a, b) => a - b);
  return quantileOf(ascending, 0.5) ?? 0;
}

/** Computing takes its time at any speed, so the times of calls at different speeds differ by that alone. */
function areTimesComparable(here: Sides, baseline: Sides, cell: CellTally, other: CellTally): boolean {
  const isTimed = cell.callResponseMs.length > 0 && other.callResponseMs.length > 0;
  return isTimed && speedOf(here.campaign, cell.variant) === speedOf(baseline.campaign, other.variant);
}

function speedOf({ spec }: Campaign, variant: string): number {
  return spec.variants.find(({ name }) => name === variant)?.speed ?? spec.speed;
}

function countsOf(cell: CellTally, other: CellTally): Counts {
  return {
    passed: cell.passed,
    trials: cell.passed + cell.failed,
    otherPassed: other.passed,
    otherTrials: other.passed + other.failed,
  };
}

function isJudged({ passed, failed }: CellTally): boolean {
  return passed + failed > 0;
}

function keyOf({ scenario, variant }: CellKey): string {
  return `${scenario}\n${variant}`;
}

function cellKey({ scenario, variant }: CellKey): CellKey {
  return { scenario, variant };
}
