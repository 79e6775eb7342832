/** Writes `FUNCTIONS.md`: all functions as a Markdown table. */
import type { FunctionDeclaration } from "./declaration.ts";
import { functions, refusedFunctions } from "./registry.ts";

export function functionList(): string {
  const sorted = [...functions].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = sorted.map(
    (declared) => `| \`${signature(declared)}\` | ${declared.family} | ${declared.summary} |`,
  );
  const refused = [...refusedFunctions].map((name) => `\`${name.toUpperCase()}\``).join(", ");
  return [
    "# Functions of ES|QL",
    "",
    "Made from their declarations in `functions/`.",
    "",
    "| function | family | what it gives |",
    "|---|---|---|",
    ...rows,
    "",
    `Not served, so a translator is asked: ${refused}.`,
    "",
  ].join("\n");
}

function signature({ name, parameters }: FunctionDeclaration): string {
  const shown = parameters.map(({ name: parameter, optional, rest }) => {
    const text = rest ? `${parameter}…` : parameter;
    return optional ? `[${text}]` : text;
  });
  return `${name.toUpperCase()}(${shown.join(", ")})`;
}
