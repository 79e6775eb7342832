/** All aggregate functions, by name. */
import { aggregateFunctions } from "./aggregate.ts";
import type { FoundFunction, StatsFunction } from "./declaration.ts";
import { orderFunctions } from "./order.ts";
import { sparkline } from "./sparkline.ts";

export const statsFunctions: readonly StatsFunction[] = [...aggregateFunctions, ...orderFunctions, sparkline];

const byName = new Map(
  statsFunctions
    .filter(({ prefixes }) => prefixes === undefined)
    .flatMap((declared) =>
      [declared.name, ...(declared.aliases ?? [])].map((name) => [name, declared] as const),
    ),
);
const byPrefix = new Map(
  statsFunctions.flatMap((declared) =>
    (declared.prefixes ?? []).map((prefix) => [prefix, declared] as const),
  ),
);

/** @param name in lower case: `c`, `perc99.9` */
export function findStatsFunction(name: string): FoundFunction | undefined {
  const declared = byName.get(name);
  if (declared) return { declared, parameter: 0 };
  const [, prefix = "", digits = ""] = /^([a-z]+)(\d{1,3}(?:\.\d{1,6})?)$/.exec(name) ?? [];
  const parametric = byPrefix.get(prefix);
  const parameter = Number(digits);
  return parametric && parameter <= 100 ? { declared: parametric, parameter } : undefined;
}
