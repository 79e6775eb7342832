/** Value formats of settings, as the vendor's specifications of configuration files name them. */
import { ownValue } from "@offhook/platform/base/lookup-table";
import { resolveTime } from "../spl/time/resolve-time.ts";
import { parseCron } from "./cron.ts";
import { periodMs } from "./period.ts";

export interface Format {
  /** Describes the format in an error message: `a whole number`. */
  readonly description: string;
  /** @param others the other settings of the stanza */
  accepts(value: string, others: Readonly<Record<string, string>>): boolean;
}

/** By the name of the setting. */
export type Formats = Readonly<Record<string, Format>>;

export const text: Format = { description: "a text", accepts: () => true };

export const flag: Format = {
  description: "a boolean: 1 or 0, true or false",
  accepts: (value) => /^(1|0|true|false|t|f|yes|no|y|n)$/i.test(value),
};

/** `<unsigned integer>`. @param words accepted beside numbers */
export function integer(
  { min = 0, max = Number.MAX_SAFE_INTEGER } = {},
  ...words: readonly string[]
): Format {
  const from = min > 0 ? ` from ${min}` : "";
  const to = max < Number.MAX_SAFE_INTEGER ? ` up to ${max}` : "";
  return {
    description: `${["a whole number", ...words].join(" or ")}${from}${to}`,
    accepts(value) {
      if (words.includes(value.toLowerCase())) return true;
      const number = Number(value);
      return /^\d{1,16}$/.test(value) && number >= min && number <= max;
    },
  };
}

/** `<decimal>`. @param words accepted beside numbers */
export function decimal(...words: readonly string[]): Format {
  return {
    description: ["a number", ...words].join(" or "),
    accepts: (value) => words.includes(value.toLowerCase()) || /^-?(\d{1,15}(\.\d*)?|\.\d+)$/.test(value),
  };
}

export function oneOf(...values: readonly string[]): Format {
  const known = new Set(values.map((value) => value.toLowerCase()));
  return { description: `one of ${values.join(", ")}`, accepts: (value) => known.has(value.toLowerCase()) };
}

export function anyOf(...formats: readonly Format[]): Format {
  return {
    description: formats.map(({ description }) => description).join(", or "),
    accepts: (value, others) => formats.some((format) => format.accepts(value, others)),
  };
}

export function matchingPattern(pattern: RegExp, description: string): Format {
  return { description, accepts: (value) => pattern.test(value) };
}

/** `<time-specifier>`: `60`, `5m`, `24h`. */
export const period: Format = {
  description: "a span of time such as 60s, 5m, 24h or 2d",
  accepts: (value) => periodMs(value) !== undefined,
};

/** Time to live of a run's artifacts: seconds, or periods of the schedule. */
export const timeToLive = matchingPattern(/^\d{1,9}p?$/, "seconds, or periods of the schedule as in 2p");

export const cron: Format = {
  description: "a cron schedule: minute, hour, day of the month, month, day of the week",
  accepts: (value) => parseCron(value) !== undefined,
};

/** `<time-str>`: a relative time, or one in the format that the setting `formatSetting` of the stanza names; `rt` may precede it. */
export function time(formatSetting: string): Format {
  return {
    description: "a time: -1h@h, now, seconds since 1970, or ISO 8601",
    accepts(value, others) {
      const format = others[formatSetting]?.trim();
      return isTime(value.replace(/^rt/i, ""), format === "" ? undefined : format);
    },
  };
}

function isTime(value: string, format: string | undefined): boolean {
  try {
    resolveTime(value, { nowMs: 0, timeZone: "UTC", ...(format === undefined ? {} : { format }) });
    return true;
  } catch {
    return false;
  }
}

/** `["a", "b"]` */
export const list = matchingPattern(/^\[[\s\S]*\]$/, 'a list such as ["host","source"]');

/**
 * Finds the first setting whose value does not have its format. An empty value stands for the default, and is accepted.
 * @param others the other settings of the stanza
 */
export function findInvalid(
  formats: Formats,
  settings: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>> = settings,
): { name: string; value: string; format: Format } | undefined {
  for (const [name, value] of Object.entries(settings)) {
    const format = ownValue(formats, name);
    const given = value.trim();
    if (format !== undefined && given !== "" && !format.accepts(given, others))
      return { name, value, format };
  }
  return undefined;
}
