/** Translates a search into row sets of the segment index: exact for some parts, a superset of the matches for others. */

import { type Sql, sql } from "@offhook/log-store/sql";
import { piecesOf } from "@offhook/log-store/text/segments";
import type { SearchExpression } from "../syntax/ast.ts";
import type { RowSet } from "./segment-index.ts";

/** A superset of the rows that match an expression. */
export interface IndexedRows {
  /** `undefined`: all rows. */
  readonly set: RowSet | undefined;
  /** Whether every row of the set matches. */
  readonly isExact: boolean;
}

/** Words to look up for one part of a search. */
const MAX_WORDS = 10_000;
const anyRow: IndexedRows = { set: undefined, isExact: false };

/** @param ofComparison rows that a comparison's words select, if worth looking up */
export function indexedRows(
  expression: SearchExpression,
  ofComparison: (expression: SearchExpression) => RowSet | undefined,
): IndexedRows {
  switch (expression.node) {
    case "and": {
      const parts = expression.operands.map((operand) => indexedRows(operand, ofComparison));
      const sets = parts.flatMap(({ set }) => set ?? []);
      return { set: combine("and", sets), isExact: parts.every(({ isExact }) => isExact) };
    }
    case "or": {
      const parts = expression.operands.map((operand) => indexedRows(operand, ofComparison));
      const sets = parts.flatMap(({ set }) => set ?? []);
      if (sets.length < parts.length) return anyRow;
      return { set: combineAlternatives(sets), isExact: parts.every(({ isExact }) => isExact) };
    }
    case "not": {
      const { set, isExact } = indexedRows(expression.operand, ofComparison);
      return set !== undefined && isExact ? { set: { kind: "not", set }, isExact } : anyRow;
    }
    case "term":
      return termRows(expression);
    case "comparison":
    case "in":
      return { set: ofComparison(expression), isExact: false };
    default:
      return anyRow;
  }
}

function combine(kind: "and" | "or", sets: readonly RowSet[]): RowSet | undefined {
  const [only] = sets;
  return sets.length > 1 ? { kind, sets } : only;
}

/** The union of sets; single words are merged into one lookup. */
function combineAlternatives(sets: readonly RowSet[]): RowSet | undefined {
  const words = sets.flatMap((set) => (set.kind === "words" && set.inText ? set.words : []));
  const others = sets.filter((set) => set.kind !== "words" || !set.inText);
  if (words.length > MAX_WORDS) return undefined;
  return combine("or", words.length === 0 ? others : [containsAny(words), ...others]);
}

function containsAny(words: readonly string[]): RowSet {
  return { kind: "words", words, inText: true };
}

function termRows({ value: { text }, mode }: Extract<SearchExpression, { node: "term" }>): IndexedRows {
  const literals = text.split(/\*+/).filter((part) => part !== "");
  const [only] = literals;
  if (only !== undefined && literals.length === 1 && piecesOf(only).length === 1 && mode !== "case") {
    return { set: segmentOf(text, only), isExact: true };
  }
  const sets = requiredSegments(text).map(({ text: segment, isWhole }) =>
    isWhole ? containsAny([segment]) : segmentsWhere(beginsWith(segment)),
  );
  return { set: combine("and", sets), isExact: false };
}

/** The rows of a term without breakers, possibly with wildcards at its ends. */
function segmentOf(text: string, segment: string): RowSet {
  const goesOn = text.endsWith("*");
  if (!text.startsWith("*")) return goesOn ? segmentsWhere(beginsWith(segment)) : containsAny([segment]);
  return segmentsWhere(
    goesOn ? sql`contains(term, lower(${segment}))` : sql`suffix(term, lower(${segment}))`,
  );
}

function segmentsWhere(condition: Sql): RowSet {
  return { kind: "segments", condition };
}

/** Condition on `term`: a prefix, also as a range that the index can use. */
function beginsWith(text: string): Sql {
  return sql`(starts_with(term, lower(${text})) AND term >= lower(${text}) AND term < lower(${text}) || chr(1114111))`;
}

interface RequiredSegment {
  text: string;
  /** Whether it is a whole segment, or the beginning of one. */
  isWhole: boolean;
  /** The preceding character in the term; empty at the start. */
  before: string;
}

/** The segments, or beginnings of segments, that any match of a term contains. */
export function requiredSegments(text: string): RequiredSegment[] {
  const parts = text.split(/\*+/);
  return parts.flatMap((part, index) => {
    const pieces = piecesOf(part);
    let offset = 0;
    return pieces.flatMap((piece, position): RequiredSegment[] => {
      const before = part.charAt(offset - 1);
      offset += piece.length + 1;
      const startsOpen = position === 0 && index > 0;
      const endsOpen = position === pieces.length - 1 && index < parts.length - 1;
      if (piece === "" || startsOpen) return [];
      if (!endsOpen) return [{ text: piece, isWhole: true, before }];
      return [{ text: piece, isWhole: false, before }];
    });
  });
}
