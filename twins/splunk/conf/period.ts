/** Time spans of settings: `60`, `30s`, `5m`, `24h`, `2d`. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

const unitMs = lookupTable<number>({
  "": 1000,
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
});

/** Parses a time span to milliseconds; `undefined` for any other text. */
export function periodMs(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,9})\s*([a-z]*?)s?$/i.exec(text.trim()) ?? [];
  const factor = unitMs[unit.toLowerCase()];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
