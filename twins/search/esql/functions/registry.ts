/** All functions, by name. */
import { aggregateFunctions } from "./aggregate.ts";
import type { FunctionDeclaration } from "./declaration.ts";

export const functions: readonly FunctionDeclaration[] = [...aggregateFunctions];

/** Functions of 8.15 that are not served: there are no shapes in a log dataset. */
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
