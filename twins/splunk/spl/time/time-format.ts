/** Time formats of SPL: `%F %T.%3N`. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** A piece of a format. */
export type FormatItem =
  | { readonly kind: "literal"; readonly text: string }
  | {
      readonly kind: "variable";
      /** `Y`, `:z`, `Ez`, `N`. */
      readonly name: string;
      /** Digits of `%3N`; `undefined` when it does not say. */
      readonly width: number | undefined;
    };

/** What stands for several. */
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

const names = new Set([..."aAbBCdefgGHIjklmMNpQsSuUVwWyYzZ", ...[":z", "::z", ":::z", "Ez"]]);

const variable = /%(?:(\d)([NQ])|(:{1,3}z|Ez|[A-Za-z+%]))/g;

const known = new Map<string, readonly FormatItem[]>();

/** Variables that nobody knows stand for themselves. */
export function readTimeFormat(format: string): readonly FormatItem[] {
  const before = known.get(format);
  if (before) return before;
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
  if (known.size >= 1_000) known.clear();
  known.set(format, items);
  return items;
}

function itemsOf([whole, width, fraction, name = ""]: RegExpExecArray): readonly FormatItem[] {
  if (fraction !== undefined) return [{ kind: "variable", name: fraction, width: Number(width) }];
  const longer = shorthands[name];
  if (longer !== undefined) return readTimeFormat(longer);
  if (name === "n" || name === "t" || name === "%") {
    return [{ kind: "literal", text: name === "n" ? "\n" : name === "t" ? "\t" : "%" }];
  }
  if (!names.has(name)) return [{ kind: "literal", text: whole }];
  return [{ kind: "variable", name, width: undefined }];
}
