/** Settings as the API shows them: a configuration file has texts, an entry numbers and truth values. */
import type { Content } from "../output/entry.ts";
import { isOn } from "./stanza.ts";

/** The text as what the setting is by default. */
export function typedLike(text: string, usual: Content | undefined): Content {
  if (typeof usual === "boolean") return isOn(text);
  if (typeof usual === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

/** The settings over what they are by default, each as what its default is. */
export function typedSettings(
  defaults: Readonly<Record<string, Content>>,
  settings: Readonly<Record<string, string>>,
): Record<string, Content> {
  const given = Object.entries(settings).map(([name, text]) => [name, typedLike(text, defaults[name])]);
  return { ...defaults, ...Object.fromEntries(given) };
}
