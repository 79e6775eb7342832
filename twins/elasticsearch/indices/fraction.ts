/** Rounds fractions to the precision of their mapped type. */
import type { JsonObject } from "../json/read.ts";

/** The nearest value of a type. @param type as a mapping names it */
export function fractionOf(type: string, value: number, { scaling_factor }: JsonObject): number {
  switch (type) {
    case "float":
      return Math.fround(value);
    case "half_float":
      return halfOf(value);
    case "scaled_float": {
      const factor = Number(scaling_factor);
      return Math.round(value * factor) / factor;
    }
    default:
      return value;
  }
}

/** The nearest 16-bit float: 11 significant bits, ties to even. */
function halfOf(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), -14);
  const unit = 2 ** (exponent - 10);
  const units = value / unit;
  const below = Math.floor(units);
  const rest = units - below;
  const up = rest > 0.5 || (rest === 0.5 && below % 2 !== 0);
  return (up ? below + 1 : below) * unit;
}
