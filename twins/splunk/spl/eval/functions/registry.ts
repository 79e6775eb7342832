/** All functions of eval. */
import { bitwiseFunctions } from "./bitwise.ts";
import { comparisonFunctions } from "./comparison.ts";
import { conversionFunctions } from "./conversion.ts";
import { cryptographicFunctions } from "./crypto.ts";
import type { EvalFunction } from "./declaration.ts";
import { informationalFunctions } from "./informational.ts";
import { jsonFunctions } from "./json.ts";
import { lookup } from "./lookup.ts";
import { mathematicalFunctions, trigonometryFunctions } from "./math.ts";
import { multivalueFunctions } from "./multivalue.ts";
import { searchmatch } from "./searchmatch.ts";
import { statisticalFunctions } from "./statistical.ts";
import { textFunctions } from "./text.ts";
import { timeFunctions } from "./time.ts";

export const evalFunctions: readonly EvalFunction[] = [
  ...bitwiseFunctions,
  ...comparisonFunctions,
  ...conversionFunctions,
  ...cryptographicFunctions,
  ...informationalFunctions,
  ...jsonFunctions,
  ...mathematicalFunctions,
  ...multivalueFunctions,
  lookup,
  searchmatch,
  ...statisticalFunctions,
  ...textFunctions,
  ...timeFunctions,
  ...trigonometryFunctions,
];

const byName = new Map(
  evalFunctions.flatMap((declaration) =>
    [declaration.name, ...(declaration.aliases ?? [])].map((name) => [name, declaration] as const),
  ),
);

/** @param name in lower case */
export function findFunction(name: string): EvalFunction | undefined {
  return byName.get(name);
}
