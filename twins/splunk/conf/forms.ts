/** What settings may be: the forms that the vendor's specifications of configuration files name. */
import { ownValue } from "@offhook/platform/base/lookup-table";
import { resolveTime } from "../spl/time/resolve-time.ts";
import { parseCron } from "./cron.ts";
import { periodMs } from "./period.ts";

export interface Form {
  /** What it is, for who gave something else: `a whole number`. */
  readonly what: string;
  /** @param others what else stands in the stanza */
  takes(value: string, others: Readonly<Record<string, string>>): boolean;
}

/** By the name of the setting. */
export type Forms = Readonly<Record<string, Form>>;

export const text: Form = { what: "a text", takes: () => true };

export const flag: Form = {
  what: "a boolean: 1 or 0, true or false",
  takes: (value) => /^(1|0|true|false|t|f|yes|no|y|n)$/i.test(value),
};

/** `<unsigned integer>`, and what else it may be. */
export function whole({ least = 0, most = Number.MAX_SAFE_INTEGER } = {}, ...words: readonly string[]): Form {
  const from = least > 0 ? ` from ${least}` : "";
  const to = most < Number.MAX_SAFE_INTEGER ? ` up to ${most}` : "";
  return {
    what: `${["a whole number", ...words].join(" or ")}${from}${to}`,
    takes(value) {
      if (words.includes(value.toLowerCase())) return true;
      const number = Number(value);
      return /^\d{1,16}$/.test(value) && number >= least && number <= most;
    },
  };
}

/** `<decimal>`, and what else it may be. */
export function decimal(...words: readonly string[]): Form {
  return {
    what: ["a number", ...words].join(" or "),
    takes: (value) => words.includes(value.toLowerCase()) || /^-?(\d{1,15}(\.\d*)?|\.\d+)$/.test(value),
  };
}

export function oneOf(...values: readonly string[]): Form {
  const known = new Set(values.map((value) => value.toLowerCase()));
  return { what: `one of ${values.join(", ")}`, takes: (value) => known.has(value.toLowerCase()) };
}

export function either(...forms: readonly Form[]): Form {
  return {
    what: forms.map(({ what }) => what).join(", or "),
    takes: (value, others) => forms.some((form) => form.takes(value, others)),
  };
}

export function matching(pattern: RegExp, what: string): Form {
  return { what, takes: (value) => pattern.test(value) };
}

/** `<time-specifier>`: `60`, `5m`, `24h`. */
export const period: Form = {
  what: "a span of time such as 60s, 5m, 24h or 2d",
  takes: (value) => periodMs(value) !== undefined,
};

/** How long what a run leaves is kept: seconds, or periods of its schedule. */
export const timeToLive = matching(/^\d{1,9}p?$/, "seconds, or periods of the schedule as in 2p");

export const cron: Form = {
  what: "a cron schedule: minute, hour, day of the month, month, day of the week",
  takes: (value) => parseCron(value) !== undefined,
};

/** `<time-str>`: relative, or as `formatSetting` of the same stanza writes times. `rt` before it is what the vendor has too. */
export function time(formatSetting: string): Form {
  return {
    what: "a time: -1h@h, now, seconds since 1970, or ISO 8601",
    takes(value, others) {
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
export const list = matching(/^\[[\s\S]*\]$/, 'a list such as ["host","source"]');

/**
 * The first of some settings that is not of its form. Nothing is what a setting is when nobody says otherwise.
 * @param others what else stands in the stanza
 */
export function findInvalid(
  forms: Forms,
  settings: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>> = settings,
): { name: string; value: string; form: Form } | undefined {
  for (const [name, value] of Object.entries(settings)) {
    const form = ownValue(forms, name);
    const given = value.trim();
    if (form !== undefined && given !== "" && !form.takes(given, others)) return { name, value, form };
  }
  return undefined;
}
