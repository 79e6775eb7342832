/**
 * Normalizers: transform keywords when they are indexed and searched.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/analysis-normalizers.html
 */
import type { JsonObject } from "../json/read.ts";
import { VendorError } from "../vendor/error.ts";

export type Normalizer = (text: string) => string;

const filters = new Map<string, Normalizer>([
  ["lowercase", (text) => text.toLowerCase()],
  ["uppercase", (text) => text.toUpperCase()],
  ["trim", (text) => text.trim()],
  ["asciifolding", (text) => text.normalize("NFD").replace(/\p{Mn}/gu, "")],
]);

const PREFIX = "index.analysis.normalizer.";

/**
 * Normalizers by name: `lowercase`, and those that the index's settings define.
 * @param settings by their full names
 * @throws VendorError for an unknown filter
 */
export function normalizersOf(settings: JsonObject): ReadonlyMap<string, Normalizer> {
  const parts = new Map<string, Normalizer[]>();
  for (const [setting, value] of Object.entries(settings)) {
    if (!setting.startsWith(PREFIX)) continue;
    const [name = "", member = ""] = setting.slice(PREFIX.length).split(".");
    const steps = parts.get(name) ?? [];
    parts.set(name, steps);
    if (member === "char_filter") throw unsupportedError(`char_filter of normalizer [${name}]`);
    if (member !== "filter") continue;
    const filter = filters.get(String(value));
    if (!filter) throw unsupportedError(`filter [${String(value)}] of normalizer [${name}]`);
    steps.push(filter);
  }
  const made = [...parts].map(([name, steps]): [string, Normalizer] => [
    name,
    (text) => steps.reduce((before, step) => step(before), text),
  ]);
  return new Map([["lowercase", (text: string) => text.toLowerCase()], ...made]);
}

function unsupportedError(what: string): VendorError {
  return new VendorError(400, {
    type: "illegal_argument_exception",
    reason: `${what} is not supported here: this stand-in has the filters ${[...filters.keys()].join(", ")}`,
  });
}
