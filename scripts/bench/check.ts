/** `npm run bench -- --check`: whether what was measured is still near enough to the floor of the same run. */
import { readFileSync } from "node:fs";
import type { Report } from "@offhook/platform/testing/bench/report";
import { z } from "zod";

/** Measured divided by floor. Times and memory have a ratio that they may reach, rates one that they must reach. */
const limit = z.union([
  z.strictObject({ atMost: z.number().positive() }),
  z.strictObject({ atLeast: z.number().positive() }),
]);
const schema = z.record(z.string(), z.record(z.string(), limit));

/** By bench, then by the name of a figure. */
export type Floors = z.output<typeof schema>;

export interface Verdict {
  figure: string;
  /** Not a number when the figure, or its floor, was not measured. */
  ratio: number;
  /** `≤ 3`, `≥ 0.5` */
  limit: string;
  holds: boolean;
}

/** The ratios that hold on any machine: the floor has the same neighbours. From full runs, with room for a busy one. */
export function readFloors(): Floors {
  return schema.parse(JSON.parse(readFileSync(new URL("./floors.json", import.meta.url), "utf8")));
}

/** One for every figure that has a limit; one that was not measured does not hold. */
export function checkFloors(
  { bench, figures }: Pick<Report, "bench" | "figures">,
  floors: Floors,
): Verdict[] {
  return Object.entries(floors[bench] ?? {}).map(([name, given]) => {
    const found = figures.find((figure) => figure.name === name);
    const ratio = (found?.measured ?? Number.NaN) / (found?.floor ?? Number.NaN);
    return "atMost" in given
      ? { figure: name, ratio, limit: `≤ ${given.atMost}`, holds: ratio <= given.atMost }
      : { figure: name, ratio, limit: `≥ ${given.atLeast}`, holds: ratio >= given.atLeast };
  });
}

export function sentenceOf({ figure, ratio, limit, holds }: Verdict): string {
  if (Number.isNaN(ratio)) return `FAIL  ${figure}: not measured, must be ${limit} times the floor`;
  return `${holds ? "ok  " : "FAIL"}  ${figure}: ${ratio.toFixed(2)} times the floor, must be ${limit}`;
}
