/** Reads values as configuration files write them. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** Whether a setting is on: `1`, `true`, `t`, `yes`, `y`, in any case. */
export function isOn(text: string | undefined): boolean {
  return /^(1|true|t|yes|y)$/i.test(text?.trim() ?? "");
}

/** A whole number of at least 0; `fallback` for any other text. */
export function wholeNumber(text: string | undefined, fallback: number): number {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback;
}

const units = lookupTable<number>({ "": 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 });

/** Bytes of `500KB`, `2MB` or a plain number; `undefined` for any other text. */
export function sizeBytes(text: string | undefined): number | undefined {
  const [, number, unit = ""] = /^(\d+)\s*([KMG]?B)?$/i.exec(text?.trim() ?? "") ?? [];
  const factor = units[unit.toUpperCase()];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
