/** A naive evaluator of search expressions, event by event: the reference for compiled ones. */
type Value = string | number | readonly string[];
export type Event = Readonly<Record<string, Value>>;

export type Search =
  | { kind: "and" | "or"; operands: readonly Search[] }
  | { kind: "not"; operand: Search }
  | { kind: "term"; text: string; mode: "" | "CASE" | "TERM" }
  | { kind: "compare"; field: string; comparator: "=" | "!=" | "<" | "<=" | ">" | ">="; text: string }
  | { kind: "in"; field: string; texts: readonly string[] };

const major = new Set("[]<>(){}|!;,'\"*\t\n\f\r &?+");
const minor = new Set("/:=@.-$#%\\_");
const longBreakers = "(?:--|%(?:2526|2520|21|26|3B|7C|20|2B|3D|5D|5B|3A|0A|2C|28|29))";
const longBreakerBefore = new RegExp(`${longBreakers}$`, "i");
const longBreakerAfter = new RegExp(`^${longBreakers}`, "i");
const isBreaker = (char: string) => major.has(char) || minor.has(char);

export function matches(search: Search, event: Event, raw: string): boolean {
  switch (search.kind) {
    case "and":
      return search.operands.every((operand) => matches(operand, event, raw));
    case "or":
      return search.operands.some((operand) => matches(operand, event, raw));
    case "not":
      return !matches(search.operand, event, raw);
    case "term":
      return hasTerm(search.text, search.mode, raw);
    case "in":
      return valuesOf(event, search.field).some((value) => search.texts.some((text) => isLike(value, text)));
    case "compare":
      return valuesOf(event, search.field).some((value) => compares(value, search.comparator, search.text));
  }
}

function valuesOf(event: Event, field: string): (string | number)[] {
  const value = event[field];
  return value === undefined ? [] : typeof value === "object" ? [...value] : [value];
}

function compares(value: string | number, comparator: string, text: string): boolean {
  if (comparator === "=") return isLike(value, text);
  if (comparator === "!=") return !isLike(value, text);
  const numbers = [value, text].map((side) =>
    /^-?\d+(\.\d+)?$/.test(String(side)) ? Number(side) : Number.NaN,
  );
  const [a = 0, b = 0] = numbers;
  const order = numbers.includes(Number.NaN)
    ? compareBytes(String(value).toLowerCase(), text.toLowerCase())
    : a - b;
  if (comparator === "<") return order < 0;
  if (comparator === "<=") return order <= 0;
  return comparator === ">" ? order > 0 : order >= 0;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isLike(value: string | number, text: string): boolean {
  const [pattern, whole] = [text.toLowerCase().split("*"), String(value).toLowerCase()];
  const [first = "", ...others] = pattern;
  if (others.length === 0) {
    return typeof value === "number" && text !== "" ? value === Number(text) : whole === first;
  }
  if (!whole.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of others.entries()) {
    const found = index === others.length - 1 ? whole.length - part.length : whole.indexOf(part, at);
    if (found < at || !whole.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

function hasTerm(text: string, mode: string, raw: string): boolean {
  const [term, whole] = mode === "CASE" ? [text, raw] : [text.toLowerCase(), raw.toLowerCase()];
  const parts = term.split("*");
  if (parts.every((part) => part === "")) return true;
  const majorsOnly = mode === "TERM" && [...term].some((char) => minor.has(char));
  const ends = (char: string) => char === "" || (majorsOnly ? major.has(char) : isBreaker(char));
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  const openStart = first === "" || (!majorsOnly && isBreaker(first.charAt(0)));
  const openEnd = last === "" || (!majorsOnly && isBreaker(last.charAt(last.length - 1)));
  const words = parts.filter((part) => part !== "");
  for (let start = 0; start <= whole.length; start++) {
    const before = whole.slice(0, start);
    if (!openStart && !ends(before.slice(-1)) && !longBreakerBefore.test(before)) continue;
    const isEnd = (end: number) => ends(whole.charAt(end)) || longBreakerAfter.test(whole.slice(end));
    if (endsOf(whole, start, words).some((end) => openEnd || isEnd(end))) return true;
  }
  return false;
}

/** Positions at which the words, found in order from `start` without a major breaker between them, can end. */
function endsOf(text: string, start: number, [word = "", ...others]: readonly string[]): number[] {
  if (!text.startsWith(word, start)) return [];
  const end = start + word.length;
  if (others.length === 0) return [end];
  const found: number[] = [];
  for (let at = end; at <= text.length; at++) {
    found.push(...endsOf(text, at, others));
    if (major.has(text.charAt(at))) break;
  }
  return found;
}
