/** Words that must occur in an event's text for a field comparison to match: a rare value is found through the segment index. */

import type { SearchExpression } from "../syntax/ast.ts";
import { parseCidr } from "./cidr.ts";
import { requiredSegments } from "./indexed-rows.ts";
import type { RowSet } from "./segment-index.ts";

/** A set of rows that contains every match of `expression`. */
export interface ComparisonWords {
  expression: SearchExpression;
  set: Extract<RowSet, { kind: "words" }>;
}

/** Alternatives to look up; more values are found faster by scanning the field. */
const MAX_ALTERNATIVES = 64;

/** The words that an expression's comparisons require, longest first, because longer words tend to be rarer. */
export function comparisonWords(expression: SearchExpression): ComparisonWords[] {
  return requiredWords(expression).sort((a, b) => weight(b) - weight(a));
}

function weight({ set: { words } }: ComparisonWords): number {
  return Math.min(...words.map(({ length }) => length));
}

function requiredWords(expression: SearchExpression): ComparisonWords[] {
  switch (expression.node) {
    case "and":
      return expression.operands.flatMap(requiredWords);
    case "or":
    case "in":
    case "comparison": {
      const alternatives = alternativesOf(expression);
      const [only, ...others] = alternatives;
      if (only === undefined || alternatives.length > MAX_ALTERNATIVES) return [];
      if (others.length === 0) return only.map((word) => oneOf(expression, [word]));
      const words = alternatives.map((pieces) => [...pieces].sort((a, b) => b.length - a.length)[0]);
      const all = words.flatMap((word) => word ?? []);
      return all.length < words.length ? [] : [oneOf(expression, all)];
    }
    default:
      return [];
  }
}

function oneOf(of: SearchExpression, words: readonly string[]): ComparisonWords {
  return { expression: of, set: { kind: "words", words, inText: false } };
}

/** The required words of each alternative value; none when some alternative requires no word. */
function alternativesOf(expression: SearchExpression): string[][] {
  switch (expression.node) {
    case "or": {
      const each = expression.operands.map(alternativesOf);
      return each.some(({ length }) => length === 0) ? [] : each.flat();
    }
    case "in":
      return expression.values.map(({ text }) => certainWords(expression.field, text));
    case "comparison":
      return expression.comparator === "=" ? [certainWords(expression.field, expression.value.text)] : [];
    default:
      return [];
  }
}

/** Fields whose values are not part of the event's text. */
const metadataFields = new Set(
  [
    "index",
    "host",
    "source",
    "sourcetype",
    "splunk_server",
    "linecount",
    "punct",
    "_time",
    "_indextime",
  ].concat(
    ["timestartpos", "timeendpos", "_sourcetype", "date_hour", "date_mday", "date_minute", "date_month"],
    ["date_second", "date_wday", "date_year", "date_zone"],
  ),
);

/** Numbers, and prefixes of numbers: the event may spell them differently. */
const number = /^\s*[+-]?[\d.]+\.?(e[+-]?\d*)?\s*(\*|$)/i;
/** Characters before a segment that JSON never escapes: after an escape, its last digits would run into the segment. */
const unambiguousBefore = /[\s.\-_:/@,;([]?$/;

/** The segments that a value certainly has in the event's text. JSON may escape anything but letters and digits. */
function certainWords(field: string, text: string): string[] {
  if (metadataFields.has(field) || number.test(text) || parseCidr(text) !== undefined) return [];
  return requiredSegments(text).flatMap(({ text: segment, isWhole, before }) =>
    isWhole && /^\w+$/.test(segment) && unambiguousBefore.test(before) ? [segment] : [],
  );
}
