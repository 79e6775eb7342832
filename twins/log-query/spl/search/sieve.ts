/**
 * Which events a search can find at all, looked up in the segments of their texts: a few rows are read in place of all of them, and
 * the search itself decides about each. It is looked up only where it is rare: what is in many events is found faster by a scan.
 */

import { piecesOf } from "../../../datasets/segments.ts";
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { SearchContext } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";

/** Something that is in the index for every event that is found: a segment, or how one begins. */
interface Segment {
  text: string;
  whole: boolean;
}

/** What every event has that is found: one of several segments, each of which stands for an alternative. */
type Needed = readonly Segment[];

/** More events than these are found by a scan. */
const MOST_ROWS = 2000;
/** Segments that are looked for: those of one alternative each. */
const MOST_SEGMENTS = 64;
/** Requirements that are compared, to take the rarest. */
const MOST_NEEDED = 8;
const SHORTEST_BEGINNING = 3;

/** A predicate on `documents` that all events meet that are found; `undefined` when it would not help. */
export async function sieve(expression: SearchExpression, context: SearchContext): Promise<Sql | undefined> {
  if (context.store.fields.textIndex !== "raw") return undefined;
  const needed = neededBy(expression)
    .filter(({ length }) => length > 0 && length <= MOST_SEGMENTS)
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, MOST_NEEDED);
  let best: readonly string[] | undefined;
  for (const segments of needed) {
    const rows = await rowsOf(segments, context);
    if (rows !== undefined && (best === undefined || rows.length < best.length)) best = rows;
    if (best !== undefined && best.length < MOST_ROWS / 20) break;
  }
  if (best === undefined) return undefined;
  const found = best.length === 0 ? raw("false") : sql`_row IN (${raw([...new Set(best)].join(", "))})`;
  const [unsegmented] = (await context.store.query(raw("SELECT min(_row) FROM unsegmented"))).rows;
  const first = unsegmented?.[0];
  return typeof first === "number" ? sql`(${found} OR _row >= ${raw(String(first))})` : found;
}

/** Long segments are rare more often. */
function weight(segments: Needed): number {
  return Math.min(...segments.map(({ text, whole }) => text.length + (whole ? 2 : 0)));
}

/** Row numbers, as SQL writes them; `undefined` when there are too many. */
async function rowsOf(segments: Needed, { store }: SearchContext): Promise<string[] | undefined> {
  const limit = raw(String(MOST_ROWS + 1));
  const parts = segments.map(({ text, whole }) => {
    const condition = whole ? sql`term = lower(${text})` : beginning(text);
    return sql`(SELECT _row FROM segments WHERE ${condition} LIMIT ${limit})`;
  });
  const { rows } = await store.query(sql`SELECT _row FROM (${joined(parts, " UNION ALL ")}) LIMIT ${limit}`);
  return rows.length > MOST_ROWS ? undefined : rows.map(([row]) => String(Number(row)));
}

function beginning(text: string): Sql {
  return sql`starts_with(term, lower(${text})) AND term >= lower(${text}) AND term < lower(${text}) || chr(1114111)`;
}

/** Of each requirement that an event must meet, the segments of which it has one. */
function neededBy(expression: SearchExpression): Needed[] {
  switch (expression.node) {
    case "and":
      return expression.operands.flatMap(neededBy);
    case "or": {
      // Each alternative gives the segments that are likely to be rare.
      const each = expression.operands.map((operand) => rarest(neededBy(operand)));
      return each.includes(undefined) ? [] : [each.flatMap((segments) => segments ?? [])];
    }
    case "in":
      return neededBy({
        node: "or",
        operands: expression.values.map((value) => ({
          node: "comparison",
          field: expression.field,
          comparator: "=",
          value,
          mode: "plain",
        })),
      });
    case "term":
      return segmentsOf(expression.value.text, () => true).map((segment) => [segment]);
    case "comparison":
      return comparisonNeeds(expression);
    default:
      return [];
  }
}

function rarest(needed: readonly Needed[]): Needed | undefined {
  return [...needed].sort((a, b) => weight(b) - weight(a))[0];
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

/** What a value has in the event's text, where nothing of it can be written otherwise: JSON may escape what is no letter. */
function comparisonNeeds({
  field,
  comparator,
  value,
}: Extract<SearchExpression, { node: "comparison" }>): Needed[] {
  const { text } = value;
  const isNumber = /^\s*[+-]?[\d.]/.test(text);
  if (comparator !== "=" || given.has(field) || isNumber) return [];
  return segmentsOf(text, (segment, before) => /^[\w]+$/.test(segment) && plainBefore.test(before)).map(
    (segment) => [segment],
  );
}

/** A segment after a character that could be escaped would be written together with the escape's last digits. */
const plainBefore = /[\s.\-_:/@,;([]?$/;

/** The segments that a text's place in an event has for certain. */
function segmentsOf(text: string, isSafe: (segment: string, before: string) => boolean): Segment[] {
  const parts = text.split(/\*+/);
  return parts.flatMap((part, index) => {
    const pieces = piecesOf(part);
    let offset = 0;
    return pieces.flatMap((piece, position): Segment[] => {
      const before = part.charAt(offset - 1);
      offset += piece.length + 1;
      const startsOpen = position === 0 && index > 0;
      const endsOpen = position === pieces.length - 1 && index < parts.length - 1;
      if (piece === "" || startsOpen || !isSafe(piece, before)) return [];
      if (!endsOpen) return [{ text: piece, whole: true }];
      return piece.length < SHORTEST_BEGINNING ? [] : [{ text: piece, whole: false }];
    });
  });
}
