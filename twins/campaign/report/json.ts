/** A report as JSON: the shape that `campaign report --json` prints and `GET /campaigns/{id}/report` answers. */
import type { CampaignReport } from "./report.ts";
import { comparisonWords, headlineOf } from "./words.ts";

/** Grows when a member changes its meaning or goes; new members do not count. */
const VERSION = 1;

/** Renders a report as an object for JSON, its members in snake case as all of the control plane's. */
export function toJson(report: CampaignReport): object {
  const { comparison } = report;
  return {
    version: VERSION,
    headline: headlineOf(report),
    ...snakeKeys({
      ...report,
      comparison: comparison && { ...comparison, words: comparisonWords(comparison) },
    }),
  };
}

/** Names members in snake case, at any depth. Only for shapes of our own: the keys of maps would be renamed, too. */
export function snakeKeys(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      renamed(member),
    ]),
  );
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  return typeof value === "object" && value !== null ? snakeKeys(value) : value;
}
