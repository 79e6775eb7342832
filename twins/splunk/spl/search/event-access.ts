/** Which events somebody finds at all, whatever they search for: what their roles let them see. */
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { parseSearchExpression } from "../syntax/parse-text.ts";
import type { TimeRange } from "../time/time-range.ts";

const all: SearchExpression = { node: "all" };
const none: SearchExpression = { node: "not", operand: all };

/** What an event has to meet before anybody asks; `undefined`: nothing. @throws SplError */
export function accessExpression({ access, parse }: SearchContext): SearchExpression | undefined {
  if (access === undefined) return undefined;
  const { allowed, disallowed, filter } = access;
  const isOpen = allowed.includes("*") && allowed.includes("_*");
  const operands = [
    ...(isOpen ? [] : [inIndexes(allowed)]),
    ...(disallowed.length === 0 ? [] : [{ node: "not", operand: inIndexes(disallowed) } as const]),
    ...(filter === "" ? [] : [parseSearchExpression(filter, parse)]),
  ];
  const [only] = operands;
  return operands.length > 1 ? { node: "and", operands } : only;
}

/** The events of indexes whose names fit one of the patterns: `*` at its beginning stands for no internal one. */
export function inIndexes(patterns: readonly string[]): SearchExpression {
  const operands = patterns.map((pattern): SearchExpression => {
    if (!pattern.startsWith("*")) return like(pattern);
    return { node: "and", operands: [like(pattern), { node: "not", operand: like("_*") }] };
  });
  const [only = none] = operands;
  return operands.length > 1 ? { node: "or", operands } : only;
}

function like(text: string): SearchExpression {
  const value = { text, quoted: true };
  return { node: "comparison", field: "index", comparator: "=", value, mode: "plain" };
}

/** As much of a range as may be looked at. */
export function accessibleRange(range: TimeRange, { access, nowMs, warn }: SearchContext): TimeRange {
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
