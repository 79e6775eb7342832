/** What values of fields have in the events' texts: an event is found by a rare value without reading the field of all. */

import type { SearchExpression } from "../syntax/ast.ts";
import { parseCidr } from "./cidr.ts";
import { certainSegments } from "./indexed-rows.ts";
import type { RowSet } from "./segment-index.ts";

/** What each event that a part of a search finds has one of. */
export interface ComparisonWords {
  of: SearchExpression;
  set: Extract<RowSet, { kind: "words" }>;
}

/** Alternatives that are looked up; more values are found faster by a scan of their field. */
const MOST_ALTERNATIVES = 64;

/** What the comparisons of an expression ask for, the longest first: it is rare more often. */
export function comparisonWords(expression: SearchExpression): ComparisonWords[] {
  return needed(expression).sort((a, b) => weight(b) - weight(a));
}

function weight({ set: { words } }: ComparisonWords): number {
  return Math.min(...words.map(({ length }) => length));
}

function needed(expression: SearchExpression): ComparisonWords[] {
  switch (expression.node) {
    case "and":
      return expression.operands.flatMap(needed);
    case "or":
    case "in":
    case "comparison": {
      const alternatives = alternativesOf(expression);
      const [only, ...others] = alternatives;
      if (only === undefined || alternatives.length > MOST_ALTERNATIVES) return [];
      if (others.length === 0) return only.map((word) => wordsOf(expression, [word]));
      const words = alternatives.map((pieces) => [...pieces].sort((a, b) => b.length - a.length)[0]);
      const all = words.flatMap((word) => word ?? []);
      return all.length < words.length ? [] : [wordsOf(expression, all)];
    }
    default:
      return [];
  }
}

function wordsOf(of: SearchExpression, words: readonly string[]): ComparisonWords {
  return { of, set: { kind: "words", words, inText: false } };
}

/** The words of each value that is enough; none when something else is, too. */
function alternativesOf(expression: SearchExpression): string[][] {
  switch (expression.node) {
    case "or": {
      const each = expression.operands.map(alternativesOf);
      return each.some(({ length }) => length === 0) ? [] : each.flat();
    }
    case "in":
      return expression.values.map(({ text }) => wordsOfValue(expression.field, text));
    case "comparison":
      return expression.comparator === "=" ? [wordsOfValue(expression.field, expression.value.text)] : [];
    default:
      return [];
  }
}

/** Fields whose values are not in the event. */
const given = new Set(
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

/** What may be written otherwise in the event: a number, and how one begins. */
const number = /^\s*[+-]?[\d.]+\.?(e[+-]?\d*)?\s*(\*|$)/i;
/** A segment after a character that could be escaped would be written together with the escape's last digits. */
const plainBefore = /[\s.\-_:/@,;([]?$/;

/** What a value has in the event's text, where nothing of it can be written otherwise: JSON may escape what is no letter. */
function wordsOfValue(field: string, text: string): string[] {
  if (given.has(field) || number.test(text) || parseCidr(text) !== undefined) return [];
  return certainSegments(text).flatMap(({ text: segment, isWhole, before }) =>
    isWhole && /^\w+$/.test(segment) && plainBefore.test(before) ? [segment] : [],
  );
}
