/** A report as plain text for a terminal. */
import type { CampaignReport, CellReport } from "./report.ts";
import { comparisonWords, failureWords, formatMs, formatRate, headlineOf, totalWords } from "./words.ts";

/** Narrower terminals are treated as this wide. */
const MIN_COLUMNS = 40;
const MAX_NAME = 32;
const MAX_FAILURES = 10;
const INDENT = "  ";

/** Renders a report for a terminal: flaky ones first, no line wider than `columns` unless a word is. */
export function toText(report: CampaignReport, columns = 80): string {
  const width = Math.max(columns, MIN_COLUMNS);
  const { campaign, flaky, cells, failures, comparison } = report;
  const lines = wrap(`${campaign.name}: ${headlineOf(report)}`, width, "");
  for (const words of totalWords(report)) lines.push(...wrap(words, width, INDENT));
  if (flaky.length > 0) lines.push("", "flaky", ...table(flaky, width));
  const steady = cells.filter((cell) => !cell.flaky);
  if (steady.length > 0) lines.push("", flaky.length > 0 ? "others" : "scenarios", ...table(steady, width));
  if (failures.length > 0) {
    lines.push("", "failures");
    for (const failure of failures.slice(0, MAX_FAILURES)) {
      lines.push(...wrap(`${failure.calls} × ${failureWords(failure)}`, width, INDENT));
    }
  }
  if (comparison) {
    const { overall, beyondChance, others } = comparisonWords(comparison);
    lines.push("", `compared with ${comparison.baseline.name}`);
    for (const sentence of [overall, ...beyondChance, ...others])
      lines.push(...wrap(sentence, width, INDENT));
  }
  return `${lines.join("\n")}\n`;
}

function table(cells: readonly CellReport[], width: number): string[] {
  const rows = cells.map((cell) => {
    const { scenario, variant, passed, failed, errors, passRate, response } = cell;
    const times = response ? `${formatMs(response.p50Ms)} / ${formatMs(response.p95Ms)}` : "";
    const judged = `${passed}/${passed + failed}${errors === 0 ? "" : ` +${errors} err`}`;
    return [cut(scenario, MAX_NAME), cut(variant, MAX_NAME), judged, formatRate(passRate), times];
  });
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const padded = row.map((text, column) =>
      column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    );
    return cut(`${INDENT}${padded.join("  ")}`.trimEnd(), width);
  });
}

/** Wraps between words; following lines are indented further. */
function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    const isFirst = line.trim() === "";
    if (!isFirst && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `${indent}${INDENT}${word}`;
    } else line += isFirst ? word : ` ${word}`;
  }
  return [...lines, line];
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
