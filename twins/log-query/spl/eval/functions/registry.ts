/** All functions, by name. */
import { comparisonFunctions } from "./comparison.ts";
import type { EvalFunction } from "./declaration.ts";
import { informationalFunctions } from "./informational.ts";

export const evalFunctions: readonly EvalFunction[] = [...comparisonFunctions, ...informationalFunctions];

const byName = new Map(
  evalFunctions.flatMap((declaration) =>
    [declaration.name, ...(declaration.aliases ?? [])].map((name) => [name, declaration] as const),
  ),
);

/** @param name in lower case */
export function findFunction(name: string): EvalFunction | undefined {
  return byName.get(name);
}
