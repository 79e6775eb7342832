/** Reads time formats: `%F %T.%3N`. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { memoize } from "@offhook/platform/base/memoize";

/** A piece of a format. */
export type FormatItem =
  | { readonly kind: "literal"; readonly text: string }
  | {
      readonly kind: "variable";
      /** `Y`, `:z`, `Ez`, `N`. */
      readonly name: string;
      /** Digits of `%3N`; `undefined` for `%N`. */
      readonly width: number | undefined;
    };

/** Variables that abbreviate others. */
const shorthands = lookupTable<string>({
  F: "%Y-%m-%d",
  T: "%H:%M:%S",
  R: "%H:%M",
  D: "%m/%d/%y",
  c: "%a %b %e %H:%M:%S %Y",
  "+": "%a %b %e %H:%M:%S %Z %Y",
  x: "%m/%d/%Y",
  X: "%H:%M:%S",
  h: "%b",
  r: "%I:%M:%S %p",
  v: "%e-%b-%Y",
});

const variableNames = new Set([..."aAbBCdefgGHIjklmMNpQsSuUVwWyYzZ", ...[":z", "::z", ":::z", "Ez"]]);

const variable = /%(?:(\d)([NQ])|(:{1,3}z|Ez|[A-Za-z+%]))/g;

/** Splits a format into literals and variables. Unknown variables are literals. */
export const readTimeFormat = memoize((format: string): readonly FormatItem[] => {
  const items: FormatItem[] = [];
  let from = 0;
  const literal = (text: string) => {
    if (text !== "") items.push({ kind: "literal", text });
  };
  for (const match of format.matchAll(variable)) {
    literal(format.slice(from, match.index));
    from = match.index + match[0].length;
    items.push(...itemsOf(match));
  }
  literal(format.slice(from));
  return items;
}, 1_000);

function itemsOf([whole, width, fraction, name = ""]: RegExpExecArray): readonly FormatItem[] {
  if (fraction !== undefined) return [{ kind: "variable", name: fraction, width: Number(width) }];
  const longer = shorthands[name];
  if (longer !== undefined) return readTimeFormat(longer);
  if (name === "n" || name === "t" || name === "%") {
    return [{ kind: "literal", text: name === "n" ? "\n" : name === "t" ? "\t" : "%" }];
  }
  if (!variableNames.has(name)) return [{ kind: "literal", text: whole }];
  return [{ kind: "variable", name, width: undefined }];
}
