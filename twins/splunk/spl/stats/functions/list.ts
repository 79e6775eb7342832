/** Writes the aggregates as a Markdown table: `FUNCTIONS.md`. */
import type { StatsFunction } from "./declaration.ts";
import { statsFunctions } from "./registry.ts";

export function statsFunctionList(): string {
  const sorted = [...statsFunctions].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    "# Aggregates of stats, chart, timechart and their like",
    "",
    "Made from their declarations in `functions/`.",
    "",
    "| function | what it gives |",
    "|---|---|",
    ...sorted.map((declared) => `| ${signature(declared)} | ${declared.summary} |`),
    "",
  ].join("\n");
}

function signature({ syntax, aliases = [] }: StatsFunction): string {
  const others = aliases.length === 0 ? "" : ` (${aliases.map((alias) => `\`${alias}\``).join(", ")})`;
  return `\`${syntax}\`${others}`;
}
