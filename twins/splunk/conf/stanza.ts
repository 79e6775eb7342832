/** Stanzas of configuration files: what the world's rows say, over what the product ships. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { LogQueryTables } from "../world/tables.ts";
import { type Settings, shippedStanzas } from "./defaults.ts";

const none: Settings = {};

/** All settings of a stanza. @param name its file and its own name: `limits/http_input` */
export function stanza(tables: LogQueryTables, name: string): Settings {
  const shipped = shippedStanzas[name] ?? none;
  const row = tables.table("conf_stanzas").get(name);
  return row === undefined ? shipped : { ...shipped, ...row.settings };
}

/** Whether a setting is on: `1`, `true`, `t`, `yes`, `y`, in any case. */
export function isOn(text: string | undefined): boolean {
  return /^(1|true|t|yes|y)$/i.test(text?.trim() ?? "");
}

/** A whole number of at least 0; anything else is `usual`. */
export function wholeNumber(text: string | undefined, usual: number): number {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : usual;
}

const units = lookupTable<number>({ "": 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 });

/** `500KB`, `2MB`, or bytes; `undefined` when it is no size. */
export function sizeBytes(text: string | undefined): number | undefined {
  const [, number, unit = ""] = /^(\d+)\s*([KMG]?B)?$/i.exec(text?.trim() ?? "") ?? [];
  const factor = units[unit.toUpperCase()];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
