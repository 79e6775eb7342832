/** Reads values of configuration files: these are texts, while entries of the API show numbers and booleans too. */
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

/** A setting as an entry shows it. */
export type SettingValue = string | number | boolean | null;

/** Converts the text of a setting to the type of its default. */
function castSetting(text: string, fallback: SettingValue | undefined): SettingValue {
  if (typeof fallback === "boolean") return isOn(text);
  if (typeof fallback === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

/** The defaults overlaid with the given settings, each converted to the type of its default. */
export function castSettings(
  defaults: Readonly<Record<string, SettingValue>>,
  settings: Readonly<Record<string, string>>,
): Record<string, SettingValue> {
  const given = Object.entries(settings).map(([name, text]) => [name, castSetting(text, defaults[name])]);
  return { ...defaults, ...Object.fromEntries(given) };
}
