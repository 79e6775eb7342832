/** A report in words and figures for people: what Markdown, JUnit and the terminal share. */
import { type CellComparison, type CellKey, type Comparison, LEVEL } from "./compare.ts";
import type { FailureCount } from "./failure-words.ts";
import type { CampaignReport, Figures } from "./report.ts";
import type { Proportion } from "./statistics.ts";

/** `97.5 %`, `100 %`. */
export function formatPercent(share: number): string {
  return `${formatShare(share)} %`;
}

/** `97.5 % (93.1–99.2)`; `—` without calls. */
export function formatRate(rate: Proportion | null): string {
  if (rate === null) return "—";
  return `${formatPercent(rate.value)} (${formatShare(rate.low)}–${formatShare(rate.high)})`;
}

function formatShare(share: number): string {
  const percent = share * 100;
  // What is nearly all is not all.
  if (percent > 99.9 && percent < 100) return "99.9";
  if (percent > 0 && percent < 0.1) return "0.1";
  return percent.toFixed(1).replace(/\.0$/, "");
}

/** `812 ms`, `1.43 s`; `—` when there is none. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return "—";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** `p = 0.012`, `p < 0.0001`. */
function formatP(pValue: number): string {
  return pValue < 0.0001 ? "p < 0.0001" : `p = ${Number(pValue.toPrecision(2))}`;
}

/** `1 call`, `2 calls`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `open-incident, json`. */
function nameOf({ scenario, variant }: CellKey): string {
  return `${scenario}, ${variant}`;
}

/** The report in a few words: what passed of what, and what is missing. */
export function headlineOf({ campaign, total }: CampaignReport): string {
  const judged = total.passed + total.failed;
  const passed =
    judged === 0 ? "no call has been judged" : `${total.passed} of ${countOf(judged, "call")} passed`;
  const rate = total.passRate === null ? "" : `: ${formatRate(total.passRate)}`;
  const errors = total.errors === 0 ? "" : `; ${countOf(total.errors, "call")} could not be judged`;
  const missing = campaign.expectedCalls - total.calls;
  const state = {
    running: "the campaign runs",
    ended: "the campaign ended",
    cancelled: "the campaign was cancelled",
  };
  const open = missing <= 0 ? "" : `; ${countOf(missing, "call")} missing, ${state[campaign.state]}`;
  return `${passed}${rate}${errors}${open}`;
}

/** `pass^2 91 %, pass^4 83.1 %`: the chance that so many calls of a scenario all pass. */
export function passHatWords({ passHat }: Figures): string {
  return passHat
    .filter(({ k }) => k > 1)
    .map(({ k, value }) => `pass^${k} ${formatPercent(value)}`)
    .join(", ");
}

/** `responses p50 812 ms, p95 1.43 s of 60 turns`; empty when there is nothing to count. */
function responseWords({ response }: Figures, { speed }: CampaignReport["campaign"]): string {
  if (response === null) return "";
  const { turns, p50Ms, p95Ms } = response;
  // The caller's clock runs faster, and computing does not.
  const clock = speed === 1 ? "" : `, in the time of calls at speed ${speed}`;
  return `responses p50 ${formatMs(p50Ms)}, p95 ${formatMs(p95Ms)} of ${countOf(turns, "turn")}${clock}`;
}

/** `3 of 12 calls were held up …`; empty when none was. */
export function heldUpWords({ heldUp, calls }: Figures): string {
  if (heldUp === 0) return "";
  const which = `${heldUp} of ${countOf(calls, "call")} ${heldUp === 1 ? "was" : "were"} held up`;
  return `${which} by a machine too busy for the speed: no response of theirs is counted`;
}

/** What is said of all calls below the headline; nothing of what there is not. */
export function totalWords({ campaign, total }: CampaignReport): string[] {
  const facts = [passHatWords(total), responseWords(total, campaign), heldUpWords(total)];
  return facts.filter((words) => words !== "");
}

/** What a comparison found, in sentences. */
export interface ComparisonWords {
  /** Over all cells. */
  overall: string;
  /** Differences beyond chance, the surest first. */
  beyondChance: string[];
  /** What may be chance, and what has no counterpart. */
  others: string[];
}

const MAX_NAMES = 10;

/** The words of a failure, with what it did to the call when it was not judged. */
export function failureWords({ verdict, words }: FailureCount): string {
  const line = words.replace(/\s+/g, " ").trim();
  return verdict === "error" ? `not judged: ${line}` : line;
}

/** Says which differences are beyond chance, which are not, and what could not be compared. */
export function comparisonWords(comparison: Comparison): ComparisonWords {
  const { baseline, cells, overall, onlyHere, onlyBaseline } = comparison;
  const rates = cells.filter(({ beyondChance }) => beyondChance).sort(bySureness);
  const slower = cells.filter(({ response }) => response?.beyondChance);
  const rest = cells.filter(({ beyondChance, difference }) => !beyondChance && difference !== 0);
  const times = cells.filter(({ response }) => response !== null);
  const others: string[] = [];
  if (rest.length > 0) others.push(withinChance(rest));
  if (cells.length > 0 && times.length === 0) {
    others.push(
      "Response times are not compared: nobody was answered, the calls' speeds differ, or a busy machine held them up.",
    );
  } else if (times.length > slower.length) {
    const which = slower.length === 0 ? "No difference" : "No other difference";
    others.push(`${which} of response times is beyond chance, among ${countOf(times.length, "comparison")}.`);
  }
  if (onlyHere.length > 0) others.push(`Without counterpart in the baseline: ${namesOf(onlyHere)}.`);
  if (onlyBaseline.length > 0) others.push(`In the baseline alone: ${namesOf(onlyBaseline)}.`);
  return {
    overall: overallWords(baseline.name, overall, cells.length),
    beyondChance: [...rates.map(rateWords), ...slower.map(slownessWords)],
    others,
  };
}

function overallWords(name: string, overall: Comparison["overall"], cells: number): string {
  if (overall === null)
    return `Nothing can be compared with ${name}: no scenario and variant has calls in both.`;
  const [here, there] = [overall.passed / overall.judged, overall.baselinePassed / overall.baselineJudged];
  const rates = `${formatPercent(here)} of ${overall.judged} pass, ${formatPercent(there)} of ${overall.baselineJudged} in ${name}`;
  const chance = overall.beyondChance ? "beyond chance" : "which may be chance";
  const verdict = here === there ? "no difference" : `${here < there ? "fewer" : "more"}, ${chance}`;
  return `Over the ${countOf(cells, "cell")} that both have, ${rates}: ${verdict} (${formatP(overall.pValue)}).`;
}

function ratesOf({ passed, judged, baselinePassed, baselineJudged }: CellComparison): string {
  return `${passed} of ${judged} pass, ${baselinePassed} of ${baselineJudged} in the baseline`;
}

function rateWords(cell: CellComparison): string {
  const how = cell.difference < 0 ? "fewer" : "more";
  return `${nameOf(cell)}: ${ratesOf(cell)}: ${how}, beyond chance (adjusted ${formatP(cell.adjustedPValue)}).`;
}

function slownessWords(cell: CellComparison): string {
  const { response } = cell;
  if (response === null) return "";
  const how = response.differenceMs > 0 ? "slower" : "faster";
  const times = `answered in ${formatMs(response.p50Ms)}, in ${formatMs(response.baselineP50Ms)} in the baseline`;
  return `${nameOf(cell)}: ${times}: ${how}, beyond chance (adjusted ${formatP(response.adjustedPValue)}).`;
}

function withinChance(cells: readonly CellComparison[]): string {
  const [surest] = cells.toSorted(bySureness);
  const example = surest
    ? ` The surest of them is ${nameOf(surest)}: ${ratesOf(surest)} (${formatP(surest.pValue)}).`
    : "";
  const many =
    cells.length === 1
      ? "1 difference of pass rates may be chance."
      : `${cells.length} differences of pass rates may be chance.`;
  return `${many}${example}`;
}

function bySureness(a: CellComparison, b: CellComparison): number {
  return a.pValue - b.pValue || Math.abs(b.difference) - Math.abs(a.difference);
}

function namesOf(cells: readonly CellKey[]): string {
  const names = cells.slice(0, MAX_NAMES).map(nameOf).join("; ");
  return cells.length > MAX_NAMES ? `${names}; and ${cells.length - MAX_NAMES} more` : names;
}

/** How the differences were tested, for those who want to know. */
export const METHOD = `Pass rates by Fisher's exact test, response times by the rank-sum test over the calls' medians, each adjusted for the number of cells (Holm; ${LEVEL * 100} %); all cells together by the Mantel–Haenszel test. Intervals are Wilson's, of 95 %.`;
