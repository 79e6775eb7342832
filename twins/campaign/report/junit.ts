/** A report as JUnit XML, for CI systems: a suite per variant, a test case per scenario, which passes when all its calls do. */
import type { FailureCount, FailureVerdict } from "./failure-words.ts";
import type { CampaignReport, CellReport } from "./report.ts";
import { sumBy } from "./statistics.ts";
import { countOf, formatMs, formatRate, heldUpWords, passHatWords } from "./words.ts";

/**
 * Renders a report as JUnit XML, in the elements and attributes that Jenkins' schema (`junit-10.xsd` of its xUnit plugin),
 * GitLab and GitHub's actions read. Flaky scenarios are properties of their suite, because a test case of that schema has none.
 */
export function toJunit(report: CampaignReport): string {
  const { campaign, variants } = report;
  const suites = variants.map(({ variant }) => {
    const cells = report.cells.filter((cell) => cell.variant === variant);
    return suiteOf(report, variant, cells);
  });
  const counts = attributes({ name: campaign.name, ...countsOf(report.cells) });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${counts}>\n${suites.join("\n")}\n</testsuites>\n`;
}

function suiteOf({ campaign }: CampaignReport, variant: string, cells: readonly CellReport[]): string {
  const { skipped, ...counts } = {
    ...countsOf(cells),
    skipped: cells.filter(({ calls }) => calls === 0).length,
  };
  const head = attributes({
    name: variant,
    ...counts,
    skipped,
    // Without milliseconds and zone, as ISO 8601 is read there.
    timestamp: campaign.createdAt.replace(/\.\d+Z$|Z$/, ""),
  });
  const properties = [
    ["campaign", campaign.id],
    ["state", campaign.state],
    ["repeat", String(campaign.repeat)],
    ["speed", String(campaign.speed)],
    ...cells
      .filter(({ flaky }) => flaky)
      .map(({ scenario, passed, failed }) => [`flaky.${scenario}`, `${passed} of ${passed + failed} passed`]),
  ].map(([name = "", value = ""]) => `      <property${attributes({ name, value })}/>`);
  const cases = cells.map((cell) => caseOf(cell, campaign.name));
  return [
    `  <testsuite${head}>`,
    `    <properties>\n${properties.join("\n")}\n    </properties>`,
    ...cases,
    "  </testsuite>",
  ].join("\n");
}

function caseOf(cell: CellReport, campaign: string): string {
  const { scenario, variant, calls, failed, errors } = cell;
  const head = `    <testcase${attributes({ name: scenario, classname: `${campaign}.${variant}` })}>`;
  const judged = calls - errors;
  const results: string[] = [];
  if (calls === 0) results.push(`      <skipped${attributes({ message: "no call has been placed" })}/>`);
  const reasons = (verdict: FailureVerdict) => cell.failures.filter((failure) => failure.verdict === verdict);
  if (failed > 0) {
    const message = `${failed} of ${countOf(judged, "call")} failed${cell.flaky ? " (flaky)" : ""}`;
    results.push(result("failure", message, reasons("failed")));
  }
  if (errors > 0) {
    const message = `${errors} of ${countOf(calls, "call")} could not be judged`;
    results.push(result("error", message, reasons("error")));
  }
  return [
    head,
    ...results,
    `      <system-out>${escapeText(figuresOf(cell))}</system-out>`,
    "    </testcase>",
  ].join("\n");
}

function result(element: "failure" | "error", message: string, failures: readonly FailureCount[]): string {
  const text = failures.map(({ words, calls }) => `${calls} × ${words}`).join("\n");
  const head = `      <${element}${attributes({ type: element, message })}`;
  return `${head}>${escapeText(text)}</${element}>`;
}

function figuresOf(cell: CellReport): string {
  const { passed, failed, passRate, response } = cell;
  const parts = [`${passed} of ${passed + failed} passed: ${formatRate(passRate)}`, passHatWords(cell)];
  if (response) parts.push(`responses p50 ${formatMs(response.p50Ms)}, p95 ${formatMs(response.p95Ms)}`);
  parts.push(heldUpWords(cell));
  return parts.filter((part) => part !== "").join("; ");
}

/** Of test cases, not of calls: a case with both failures and errors is in both. */
function countsOf(cells: readonly CellReport[]) {
  return {
    tests: cells.length,
    failures: sumBy(cells, ({ failed }) => (failed > 0 ? 1 : 0)),
    errors: sumBy(cells, ({ errors }) => (errors > 0 ? 1 : 0)),
  };
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${escapeText(String(value))
          .replaceAll('"', "&quot;")
          .replace(/[\t\n\r]/g, escapeSpace)}"`,
    )
    .join("");
}

/** In an attribute, a parser reads line breaks as spaces. */
function escapeSpace(space: string): string {
  return `&#${space.charCodeAt(0)};`;
}

/** What XML 1.0 cannot hold, not even as a reference, and halves of pairs (`u` sees whole ones as one). */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapeText(text: string): string {
  return text
    .replace(NOT_XML, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
