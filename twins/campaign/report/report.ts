/** The report of a campaign: how often its calls pass, how surely, how fast they are answered, and why they fail. */
import type { Campaign } from "../records.ts";
import { type Comparison, compare } from "./compare.ts";
import type { FailureCount } from "./failure-words.ts";
import { type Proportion, passHat, proportionOf, quantileOf, sumBy } from "./statistics.ts";
import { type CellTally, type Records, type Tally, tallyOf } from "./tally.ts";

/** Figures of some calls of a campaign. */
export interface Figures {
  /** Calls with a verdict, errors among them. */
  calls: number;
  passed: number;
  failed: number;
  /** Calls that could not be judged. */
  errors: number;
  /** Of the judged calls, with its 95 % interval; `null` when there are none. */
  passRate: Proportion | null;
  /** For each k that some cell has calls for. */
  passHat: PassHat[];
  /** Calls that a busy machine held up: their response times are not among `response`. */
  heldUp: number;
  /** `null` when there is no response to count. */
  response: ResponseTimes | null;
}

/** The chance that k calls of a scenario all pass. */
interface PassHat {
  k: number;
  /** The mean over the cells. */
  value: number;
  /** Cells with at least k judged calls; others say nothing about it. */
  cells: number;
}

interface ResponseTimes {
  turns: number;
  p50Ms: number;
  p95Ms: number;
}

/** The calls of a scenario under a variant. */
export interface CellReport extends Figures {
  scenario: string;
  variant: string;
  /** Some of its calls passed, others failed. */
  flaky: boolean;
  /** The most frequent first. */
  failures: FailureCount[];
}

/** `running`: calls are missing. */
type CampaignState = "running" | "ended" | "cancelled";

/** The campaign that a report is of. */
export interface ReportedCampaign {
  id: string;
  name: string;
  state: CampaignState;
  createdAt: string;
  endedAt: string | null;
  expectedCalls: number;
  /** Of each scenario and variant. */
  repeat: number;
  speed: number;
}

/** What `npm run campaign -- report` says. */
export interface CampaignReport {
  campaign: ReportedCampaign;
  total: Figures;
  variants: (Figures & { variant: string })[];
  scenarios: (Figures & { scenario: string })[];
  /** Every scenario and variant, also those without calls, in the order of the campaign. */
  cells: CellReport[];
  /** Cells with both verdicts: the closest to even first, then those with more calls. */
  flaky: CellReport[];
  /** Of all calls; the most frequent first. */
  failures: FailureCount[];
  /** `null` without a baseline. */
  comparison: Comparison | null;
}

/** A campaign with its records, counted. */
export interface TalliedCampaign {
  campaign: Campaign;
  tally: Tally;
}

/** k of pass^k, as far as there are calls. */
const PASS_HAT = [1, 2, 4, 8] as const;
const MAX_FAILURES = 20;
const MAX_CELL_FAILURES = 10;

/** Reports on a campaign. @param records in any order; read once */
export async function reportOf(
  campaign: Campaign,
  records: Records,
  baseline?: { campaign: Campaign; records: Records },
): Promise<CampaignReport> {
  const tally = await tallyOf(records);
  if (!baseline) return reportOn({ campaign, tally });
  return reportOn(
    { campaign, tally },
    { campaign: baseline.campaign, tally: await tallyOf(baseline.records) },
  );
}

/** Reports on a campaign whose records are counted. */
export function reportOn({ campaign, tally }: TalliedCampaign, baseline?: TalliedCampaign): CampaignReport {
  const { scenarios, variants } = campaign.spec;
  const tallies = variants.flatMap(({ name }) => scenarios.map((scenario) => tally.cell(scenario, name)));
  const cells = tallies.map((cell) => cellReport(cell, tally));
  const reported = { campaign: describe(campaign), cells, tallies };
  return {
    campaign: reported.campaign,
    total: figuresOf(tallies),
    variants: variants.map(({ name: variant }) => ({
      variant,
      ...figuresOf(tallies.filter((cell) => cell.variant === variant)),
    })),
    scenarios: scenarios.map((scenario) => ({
      scenario,
      ...figuresOf(tallies.filter((cell) => cell.scenario === scenario)),
    })),
    cells,
    flaky: cells.filter(({ flaky }) => flaky).sort(byEvenness),
    failures: tally.words.count(sumOf(tallies)).slice(0, MAX_FAILURES),
    comparison: baseline
      ? compare({ campaign, tallies }, { campaign: baseline.campaign, tallies: baseline.tally.cells() })
      : null,
  };
}

/** What a report says about the campaign itself. */
export function describe(campaign: Campaign): ReportedCampaign {
  const { id, name, createdAt, endedAt, cancelled, expectedCalls, spec } = campaign;
  const state = cancelled ? "cancelled" : endedAt === null ? "running" : "ended";
  return { id, name, state, createdAt, endedAt, expectedCalls, repeat: spec.repeat, speed: spec.speed };
}

/** Figures of several cells together. */
function figuresOf(cells: readonly CellTally[]): Figures {
  const passed = sumBy(cells, (cell) => cell.passed);
  const failed = sumBy(cells, (cell) => cell.failed);
  const errors = sumBy(cells, (cell) => cell.errors);
  return {
    calls: passed + failed + errors,
    passed,
    failed,
    errors,
    // Of a fixed mix of scenarios the interval is too wide rather than too narrow.
    passRate: proportionOf(passed, passed + failed),
    passHat: PASS_HAT.flatMap((k) => {
      const values = cells
        .map((cell) => passHat(cell.passed, cell.passed + cell.failed, k))
        .filter((value) => value !== null);
      if (values.length === 0) return [];
      return [{ k, value: sumBy(values, (value) => value) / values.length, cells: values.length }];
    }),
    heldUp: sumBy(cells, (cell) => cell.heldUp),
    response: responseTimes(cells),
  };
}

/** The response times of the turns of several cells. */
function responseTimes(cells: readonly CellTally[]): ResponseTimes | null {
  const ascending = Float64Array.from(cells.flatMap(({ responseMs }) => responseMs)).sort();
  const [p50Ms, p95Ms] = [quantileOf(ascending, 0.5), quantileOf(ascending, 0.95)];
  return p50Ms === null || p95Ms === null ? null : { turns: ascending.length, p50Ms, p95Ms };
}

function cellReport(cell: CellTally, { words }: Tally): CellReport {
  const { scenario, variant, passed, failed, failures } = cell;
  return {
    scenario,
    variant,
    ...figuresOf([cell]),
    flaky: passed > 0 && failed > 0,
    failures: words.count(failures).slice(0, MAX_CELL_FAILURES),
  };
}

function byEvenness(a: CellReport, b: CellReport): number {
  const unevenness = ({ passed, failed }: CellReport) => Math.abs(passed / (passed + failed) - 0.5);
  return unevenness(a) - unevenness(b) || b.passed + b.failed - (a.passed + a.failed);
}

function sumOf(cells: readonly CellTally[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const { failures } of cells) {
    for (const [key, calls] of failures) sum.set(key, (sum.get(key) ?? 0) + calls);
  }
  return sum;
}
