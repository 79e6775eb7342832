/** Generates `FUNCTIONS.md`, the table of functions. */
import type { EvalFunction } from "./declaration.ts";
import { evalFunctions } from "./registry.ts";

export function functionList(): string {
  const sorted = [...evalFunctions].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    "# Functions of eval",
    "",
    "Made from their declarations in `functions/`.",
    "",
    "| function | family | what it gives |",
    "|---|---|---|",
    ...sorted.map(
      (declared) => `| ${signature(declared)} | ${declared.family} | ${cell(declared.summary)} |`,
    ),
    "",
  ].join("\n");
}

function signature({ syntax, aliases = [] }: EvalFunction): string {
  const others = aliases.length === 0 ? "" : ` (${aliases.map((alias) => `\`${alias}\``).join(", ")})`;
  return `\`${cell(syntax)}\`${others}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
