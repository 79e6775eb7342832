/** All functions, by name. */
import { aggregateFunctions } from "./aggregate.ts";
import { bucketFunction } from "./bucket.ts";
import { conditionalFunctions } from "./conditional.ts";
import { conversionFunctions } from "./conversion.ts";
import { dateFunctions } from "./date.ts";
import type { FunctionDeclaration } from "./declaration.ts";
import { ipFunctions } from "./ip.ts";
import { mathFunctions } from "./math.ts";
import { multiValueFunctions } from "./multi-value.ts";
import { stringFunctions } from "./string.ts";

export const functions: readonly FunctionDeclaration[] = [
  ...aggregateFunctions,
  bucketFunction,
  ...conditionalFunctions,
  ...conversionFunctions,
  ...dateFunctions,
  ...ipFunctions,
  ...mathFunctions,
  ...multiValueFunctions,
  ...stringFunctions,
];

/** Functions of 8.15 that this twin does not serve: a log dataset has no geometry. */
export const refusedFunctions: ReadonlySet<string> = new Set([
  "st_centroid_agg",
  "st_contains",
  "st_disjoint",
  "st_distance",
  "st_intersects",
  "st_within",
  "st_x",
  "st_y",
  "to_cartesianpoint",
  "to_cartesianshape",
  "to_geopoint",
  "to_geoshape",
]);

const byName = new Map(
  functions.flatMap((declaration) =>
    [declaration.name, ...(declaration.aliases ?? [])].map((name) => [name, declaration] as const),
  ),
);

/** @param name in lower case */
export function findFunction(name: string): FunctionDeclaration | undefined {
  return byName.get(name);
}

export function functionNames(): string[] {
  return [...byName.keys(), ...refusedFunctions];
}
