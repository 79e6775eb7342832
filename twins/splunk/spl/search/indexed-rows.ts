/** What the index of segments says of a search: of some parts which rows they find, of others which rows they can find at all. */

import { type Sql, sql } from "@offhook/log-store/sql";
import { piecesOf } from "@offhook/log-store/text/segments";
import type { SearchExpression } from "../syntax/ast.ts";
import type { RowSet } from "./segment-index.ts";

/** The rows of the index that an expression can find. */
export interface IndexedRows {
  /** `undefined`: any row. */
  readonly set: RowSet | undefined;
  /** Whether it finds all of these. */
  readonly isExact: boolean;
}

/** Words that are looked up for one part of a search. */
const MOST_WORDS = 10_000;
const anyRow: IndexedRows = { set: undefined, isExact: false };

/** @param ofComparison what a comparison's values have in the event's text, where that is worth looking up */
export function indexedRows(
  expression: SearchExpression,
  ofComparison: (expression: SearchExpression) => RowSet | undefined,
): IndexedRows {
  switch (expression.node) {
    case "and": {
      const parts = expression.operands.map((operand) => indexedRows(operand, ofComparison));
      const sets = parts.flatMap(({ set }) => set ?? []);
      return { set: together("and", sets), isExact: parts.every(({ isExact }) => isExact) };
    }
    case "or": {
      const parts = expression.operands.map((operand) => indexedRows(operand, ofComparison));
      const sets = parts.flatMap(({ set }) => set ?? []);
      if (sets.length < parts.length) return anyRow;
      return { set: anyOf(sets), isExact: parts.every(({ isExact }) => isExact) };
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

function together(kind: "and" | "or", sets: readonly RowSet[]): RowSet | undefined {
  const [only] = sets;
  return sets.length > 1 ? { kind, sets } : only;
}

/** Words are looked up together. */
function anyOf(sets: readonly RowSet[]): RowSet | undefined {
  const words = sets.flatMap((set) => (set.kind === "words" && set.inText ? set.words : []));
  const others = sets.filter((set) => set.kind !== "words" || !set.inText);
  if (words.length > MOST_WORDS) return undefined;
  return together("or", words.length === 0 ? others : [wordsOf(words), ...others]);
}

function wordsOf(words: readonly string[]): RowSet {
  return { kind: "words", words, inText: true };
}

function termRows({ value: { text }, mode }: Extract<SearchExpression, { node: "term" }>): IndexedRows {
  const literals = text.split(/\*+/).filter((part) => part !== "");
  const [only] = literals;
  if (only !== undefined && literals.length === 1 && piecesOf(only).length === 1 && mode !== "case") {
    return { set: oneSegment(text, only), isExact: true };
  }
  const sets = certainSegments(text).map(({ text: segment, isWhole }) =>
    isWhole ? wordsOf([segment]) : segmentsThat(beginsWith(segment)),
  );
  return { set: together("and", sets), isExact: false };
}

/** A term without breakers, which may go on at its ends. */
function oneSegment(text: string, segment: string): RowSet {
  const goesOn = text.endsWith("*");
  if (!text.startsWith("*")) return goesOn ? segmentsThat(beginsWith(segment)) : wordsOf([segment]);
  return segmentsThat(goesOn ? sql`contains(term, lower(${segment}))` : sql`suffix(term, lower(${segment}))`);
}

function segmentsThat(condition: Sql): RowSet {
  return { kind: "segments", condition };
}

/** That a segment begins so. */
function beginsWith(text: string): Sql {
  return sql`(starts_with(term, lower(${text})) AND term >= lower(${text}) AND term < lower(${text}) || chr(1114111))`;
}

interface CertainSegment {
  text: string;
  /** Whether it is one, or one begins so. */
  isWhole: boolean;
  /** The character before it in the term; empty at its beginning. */
  before: string;
}

/** What a term has in the text for certain: whole segments, and how some begin. */
export function certainSegments(text: string): CertainSegment[] {
  const parts = text.split(/\*+/);
  return parts.flatMap((part, index) => {
    const pieces = piecesOf(part);
    let offset = 0;
    return pieces.flatMap((piece, position): CertainSegment[] => {
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
