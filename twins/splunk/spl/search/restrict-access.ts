/** Restricts searches to the events that the user's roles may see. */
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { parseSearchExpression } from "../syntax/parse-text.ts";
import type { TimeRange } from "../time/time-range.ts";

const all: SearchExpression = { node: "all" };
const none: SearchExpression = { node: "not", operand: all };

/** The condition that every visible event meets; `undefined`: none. @throws SplError */
export function accessExpression({ access, parse }: SearchContext): SearchExpression | undefined {
  if (access === undefined) return undefined;
  const { allowed, disallowed, filter } = access;
  const isOpen = allowed.includes("*") && allowed.includes("_*");
  const operands = [
    ...(isOpen ? [] : [indexPatterns(allowed)]),
    ...(disallowed.length === 0 ? [] : [{ node: "not", operand: indexPatterns(disallowed) } as const]),
    ...(filter === "" ? [] : [parseSearchExpression(filter, parse)]),
  ];
  const [only] = operands;
  return operands.length > 1 ? { node: "and", operands } : only;
}

/** Events of the indexes that match a pattern. A leading `*` does not match internal indexes. */
export function indexPatterns(patterns: readonly string[]): SearchExpression {
  const operands = patterns.map((pattern): SearchExpression => {
    if (!pattern.startsWith("*")) return indexLike(pattern);
    return { node: "and", operands: [indexLike(pattern), { node: "not", operand: indexLike("_*") }] };
  });
  const [only = none] = operands;
  return operands.length > 1 ? { node: "or", operands } : only;
}

function indexLike(text: string): SearchExpression {
  const value = { text, quoted: true };
  return { node: "comparison", field: "index", comparator: "=", value, mode: "plain" };
}

/** The part of a time range that the user may search; warns when it is cut. */
export function limitRange(range: TimeRange, { access, nowMs, warn }: SearchContext): TimeRange {
  const { windowS, earliestS } = access ?? {};
  if (windowS === undefined && earliestS === undefined) return range;
  const { earliestMs = -Infinity, latestMs } = range;
  const fromMs = Math.max(
    windowS === undefined ? -Infinity : (latestMs ?? nowMs) - windowS * 1000,
    earliestS === undefined ? -Infinity : nowMs - earliestS * 1000,
  );
  if (earliestMs >= fromMs) return range;
  const first = new Date(fromMs).toISOString();
  warn({ type: "INFO", text: `The time range begins at ${first}: your role may search no earlier events.` });
  return { earliestMs: fromMs, latestMs };
}
