/**
 * Resolves index expressions: names, patterns, lists, `_all`, `-exclusions`, date math.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/api-conventions.html#api-multi-index
 */

import { splitList } from "@offhook/platform/base/split-list";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { illegalArgument } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import type { Parameters } from "../vendor/parameters.ts";
import type { AliasTargets } from "./aliases.ts";
import { resolveDateMath } from "./date-math-name.ts";
import { invalidIndexName, noSuchIndex } from "./errors.ts";

export interface ExpressionOptions {
  /** Missing names are skipped. */
  ignoreUnavailable: boolean;
  /** An expression may resolve to no index. */
  allowNoIndices: boolean;
  /** Whether patterns are expanded, and whether they match hidden names. */
  expand: "none" | "visible" | "hidden";
}

/** URL parameters that `readExpressionOptions` reads. */
export const expressionParameters = [
  "ignore_unavailable",
  "allow_no_indices",
  "expand_wildcards",
  "ignore_throttled",
];

export function readExpressionOptions(parameters: Parameters): ExpressionOptions {
  const states = parameters.list("expand_wildcards") ?? ["open"];
  for (const state of states) {
    if (!["open", "closed", "hidden", "none", "all"].includes(state)) {
      throw illegalArgument(`No valid expand wildcard value [${state}]`);
    }
  }
  const last = states.lastIndexOf("none");
  const counting = states.slice(last + 1);
  const expand =
    counting.length === 0 || !counting.some((state) => state === "open" || state === "all")
      ? "none"
      : "visible";
  return {
    ignoreUnavailable: parameters.flag("ignore_unavailable") ?? false,
    allowNoIndices: parameters.flag("allow_no_indices") ?? true,
    expand:
      expand !== "none" && counting.some((state) => state === "hidden" || state === "all")
        ? "hidden"
        : expand,
  };
}

export const lenientOptions: ExpressionOptions = {
  ignoreUnavailable: false,
  allowNoIndices: true,
  expand: "visible",
};

export interface ExpressionContext {
  known: readonly string[];
  /** Absent: no aliases. */
  aliases?: AliasTargets;
  fidelity: Fidelity;
  /** The time for date math. */
  nowMs: number;
  /** Default `read`. In `specification`, reading a missing name reads the whole dataset. */
  purpose?: "read" | "write";
}

const noAliases: AliasTargets = new Map();

/** The indices that an expression resolves to. */
export interface Selection {
  /** Existing names, in order. */
  names: readonly string[];
  /** Whether the selection is the whole dataset. */
  everything: boolean;
}

/** @throws VendorError 404 for missing names, in `vendor` alone */
export function select(
  expression: string | undefined,
  options: ExpressionOptions,
  context: ExpressionContext,
): Selection {
  const { known, aliases = noAliases, fidelity, nowMs, purpose = "read" } = context;
  const strict = fidelity === "vendor" || purpose === "write";
  const parts = splitExpression(expression).map((part) => resolveDateMath(part, nowMs));
  if (meansAll(parts)) {
    if (options.expand !== "none") return { names: known, everything: true };
    return strict ? selectNothing(parts, options) : { names: known, everything: true };
  }
  const chosen = new Set<string>();
  let patterned = false;
  let absent: string | undefined;
  for (const part of parts) {
    if (part.startsWith("-") && patterned) {
      for (const name of known) if (matchesPattern(name, part.slice(1))) chosen.delete(name);
    } else if (part.includes("*") || part === "_all") {
      patterned = true;
      const found =
        options.expand === "none"
          ? []
          : [
              ...known.filter((name) => expands(name, part, options)),
              ...[...aliases]
                .filter(([alias]) => expands(alias, part, options))
                .flatMap(([, targets]) => targets.map(({ index }) => index)),
            ];
      for (const name of found) chosen.add(name);
      if (found.length === 0 && !options.allowNoIndices) absent ??= part;
    } else if (known.includes(part)) chosen.add(part);
    else if (aliases.has(part)) for (const { index } of aliases.get(part) ?? []) chosen.add(index);
    else if (!options.ignoreUnavailable) absent ??= part;
  }
  if (fidelity === "vendor" && absent !== undefined) throw noSuchIndex(absent);
  if (chosen.size === 0) {
    if (fidelity === "vendor") return selectNothing(parts, options);
    return strict ? { names: [], everything: false } : { names: known, everything: true };
  }
  const names = known.filter((name) => chosen.has(name));
  return { names, everything: names.length === known.length };
}

function selectNothing(parts: readonly string[], options: ExpressionOptions): Selection {
  if (options.allowNoIndices) return { names: [], everything: false };
  throw noSuchIndex(parts.join(",") || "_all");
}

/** Bounds the length of a list. */
const MAX_PARTS = 10_000;

/**
 * Splits `a,b*,-c`; a comma within `<…>` belongs to the name. @throws VendorError for a part that no index may be named
 */
export function splitExpression(expression: string | undefined): string[] {
  if (expression === undefined) return [];
  const parts = [...splitList(expression, ",", afterDateMath)];
  for (const part of parts) {
    // A path segment with an underscore that is no API reads as an invalid index name to the vendor.
    if (part.startsWith("_") && part !== "_all") throw invalidIndexName(part, "must not start with '_'.");
  }
  if (parts.length > MAX_PARTS) throw illegalArgument(`an index expression has at most ${MAX_PARTS} parts`);
  return parts;
}

function afterDateMath(text: string, at: number): number | undefined {
  return text[at] === "<" ? text.indexOf(">", at) + 1 || -1 : undefined;
}

function meansAll(parts: readonly string[]): boolean {
  return parts.length === 0 || (parts.length === 1 && (parts[0] === "_all" || parts[0] === "*"));
}

/** Hidden names (`.kibana`) match patterns that start with a dot, or any pattern when hidden ones are requested. */
function expands(name: string, pattern: string, { expand }: ExpressionOptions): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".") && expand !== "hidden") return false;
  return pattern === "_all" || matchesPattern(name, pattern);
}
