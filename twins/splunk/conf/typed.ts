/** Settings as the API shows them: a configuration file has texts, an entry numbers and booleans. */
import { isOn } from "./values.ts";

/** A setting as an entry shows it. */
export type SettingValue = string | number | boolean | null;

/** Converts the text of a setting to the type of its default. */
export function castSetting(text: string, usual: SettingValue | undefined): SettingValue {
  if (typeof usual === "boolean") return isOn(text);
  if (typeof usual === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
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
