/** Types of options. */
import type { OptionType } from "./argument-reader.ts";

export const text: OptionType<string> = { expected: "string", read: (value) => value };

export const boolean: OptionType<boolean> = {
  expected: "boolean",
  read(value) {
    if (/^(?:t|true|1|yes)$/i.test(value)) return true;
    if (/^(?:f|false|0|no)$/i.test(value)) return false;
    return undefined;
  },
};

export const integer: OptionType<number> = {
  expected: "integer",
  read: (value) => (/^[+-]?\d{1,15}$/.test(value) ? Number(value) : undefined),
};

export const count: OptionType<number> = {
  expected: "non-negative integer",
  read: (value) => (/^\+?\d{1,15}$/.test(value) ? Number(value) : undefined),
};

export const number: OptionType<number> = {
  expected: "number",
  read(value) {
    const read = value.trim() === "" ? Number.NaN : Number(value);
    return Number.isFinite(read) ? read : undefined;
  },
};

/** One of these words, ignoring case. */
export function oneOf<Word extends string>(...words: readonly Word[]): OptionType<Word> {
  return {
    expected: words.join("|"),
    read: (value) => words.find((word) => word.toLowerCase() === value.toLowerCase()),
  };
}
