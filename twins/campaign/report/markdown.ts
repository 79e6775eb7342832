/** A report as Markdown, for a comment on a pull request. */
import type { FailureCount } from "./failure-words.ts";
import type { CampaignReport, CellReport } from "./report.ts";
import {
  comparisonWords,
  countOf,
  failureWords,
  formatMs,
  formatPercent,
  formatRate,
  headlineOf,
  METHOD,
  totalWords,
} from "./words.ts";

/** A comment on GitHub may have 65,536 characters. */
const MAX_ROWS = 100;
const MAX_FLAKY = 20;
const MAX_FINDINGS = 20;
const MAX_WORDS = 300;

/** Renders a report as GitHub-flavoured Markdown: what matters first, every scenario and variant folded. */
export function toMarkdown(report: CampaignReport): string {
  const { campaign, cells, flaky, failures } = report;
  return `${[
    `### Campaign ${escapeMarkup(campaign.name)}`,
    `**${headlineOf(report)}**`,
    totalWords(report).join("; "),
    comparisonPart(report),
    flaky.length === 0 ? "" : `#### Flaky\n\n${table(flaky, MAX_FLAKY)}`,
    failures.length === 0 ? "" : `#### Failures\n\n${failures.map(failureItem).join("\n")}`,
    `<details><summary>Every scenario and variant</summary>\n\n${table(cells, MAX_ROWS)}\n\n</details>`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
}

function comparisonPart({ comparison }: CampaignReport): string {
  if (comparison === null) return "";
  const { overall, beyondChance, others } = comparisonWords(comparison);
  const shown = beyondChance.slice(0, MAX_FINDINGS).map((words) => `- **${escapeMarkup(words)}**`);
  if (beyondChance.length > MAX_FINDINGS) shown.push(`- and ${beyondChance.length - MAX_FINDINGS} more`);
  const items = [...shown, ...others.map((words) => `- ${escapeMarkup(words)}`)];
  return [
    `#### Compared with ${escapeMarkup(comparison.baseline.name)}`,
    escapeMarkup(overall),
    items.join("\n"),
    `<sub>${METHOD}</sub>`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function table(cells: readonly CellReport[], maxRows: number): string {
  const head =
    "| scenario | variant | passed | rate (95 %) | pass^4 | p50 | p95 |\n|--|--|--:|--:|--:|--:|--:|";
  const rows = cells.slice(0, maxRows).map(tableRow);
  const more = cells.length > maxRows ? `\n\n… and ${cells.length - maxRows} more` : "";
  return `${head}\n${rows.join("\n")}${more}`;
}

function tableRow(cell: CellReport): string {
  const { scenario, variant, passed, failed, errors, passRate, passHat, response } = cell;
  const errorWords = errors === 0 ? "" : ` (+${countOf(errors, "error")})`;
  const four = passHat.find(({ k }) => k === 4);
  const columns = [
    `${scenario}${cell.flaky ? " ⚠ flaky" : ""}`,
    variant,
    `${passed} of ${passed + failed}${errorWords}`,
    formatRate(passRate),
    four ? formatPercent(four.value) : "—",
    formatMs(response?.p50Ms),
    formatMs(response?.p95Ms),
  ];
  return `| ${columns.join(" | ")} |`;
}

function failureItem(failure: FailureCount): string {
  return `- ${failure.calls} × ${codeSpan(failureWords(failure))}`;
}

/** A code span that nothing within can end. */
function codeSpan(line: string): string {
  const text = line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS - 1)}…` : line;
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `\`${text}\`` : `${fence} ${text} ${fence}`;
}

/** Keeps names from being markup, or from calling somebody. */
function escapeMarkup(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>|~#@]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
