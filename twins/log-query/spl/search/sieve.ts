/**
 * Which events a search can find at all, looked up in the segments of their texts: a few rows are read in place of all of them, and
 * the search itself decides about each. It is looked up only where it is rare: what is in many events is found faster by a scan.
 */

import { piecesOf } from "../../../datasets/segments.ts";
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { SearchContext } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { isAmong } from "./row-numbers.ts";
import { beginning, type SegmentIndex } from "./terms.ts";

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
/** Parts of phrases that are in more events are not looked up. */
const MANY_ROWS = 100_000;
/** So few that there is no need to look for fewer. */
const FEW_ROWS = 100;
const SHORTEST_BEGINNING = 3;

export interface Sieve {
  /** On `documents`: all events meet it that are found. */
  predicate: Sql;
  /** Whether so few meet it that each of them is best looked at itself. */
  isRare: boolean;
}

/** `undefined` when nothing is to be gained. */
export async function sieve(
  expression: SearchExpression,
  context: SearchContext,
  { firstUnsegmented }: SegmentIndex,
): Promise<Sieve | undefined> {
  const needed = neededBy(expression)
    .filter(({ length }) => length > 0 && length <= MOST_SEGMENTS)
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, MOST_NEEDED);
  const rows = await rarestRows(needed, context);
  const found = rows === undefined ? await commonRows(expression, context) : isAmong(raw("_row"), rows);
  if (found === undefined) return undefined;
  const predicate =
    firstUnsegmented === undefined ? found : sql`(${found} OR _row >= ${raw(String(firstUnsegmented))})`;
  return { predicate, isRare: rows !== undefined };
}

/** Long segments are rare more often. */
function weight(segments: Needed): number {
  return Math.min(...segments.map(({ text, whole }) => text.length + (whole ? 2 : 0)));
}

/** The rows that meet one requirement, the one that the fewest meet. */
async function rarestRows(needed: readonly Needed[], context: SearchContext): Promise<string[] | undefined> {
  let best: string[] | undefined;
  for (const segments of needed) {
    const rows = await rowsOf(segments, context);
    if (rows !== undefined && (best === undefined || rows.length < best.length)) best = rows;
    if (best !== undefined && best.length < FEW_ROWS) return best;
  }
  return best;
}

/** The rows that have the rarer parts of phrases: each part of an address is frequent, all of them together are not. */
async function commonRows(expression: SearchExpression, { store }: SearchContext): Promise<Sql | undefined> {
  const parts = phraseParts(expression).slice(0, MOST_NEEDED);
  if (parts.length === 0) return undefined;
  const limit = raw(String(MANY_ROWS + 1));
  const counts = parts.map(
    (part, number) =>
      sql`SELECT ${raw(String(number))} AS number, count(*) AS rows FROM (${rowsWith(part)} LIMIT ${limit})`,
  );
  const { rows } = await store.query(
    sql`SELECT number FROM (${joined(counts, " UNION ALL ")}) WHERE rows <= ${raw(String(MANY_ROWS))} ORDER BY rows LIMIT 3`,
  );
  const rare = rows.flatMap(([number]) => parts[Number(number)] ?? []);
  if (rare.length === 0) return undefined;
  return joined(
    rare.map((part) => sql`_row IN (${rowsWith(part)})`),
    " AND ",
  );
}

/** The whole segments of terms that have several: what is looked for in every event elsewise. */
function phraseParts(expression: SearchExpression): Segment[] {
  if (expression.node === "and") return expression.operands.flatMap(phraseParts);
  if (expression.node !== "term") return [];
  const parts = segmentsOf(expression.value.text, () => true).filter(({ whole }) => whole);
  return parts.length > 1 || expression.mode === "case" ? parts : [];
}

function rowsWith({ text, whole }: Segment): Sql {
  return sql`SELECT _row FROM segments WHERE ${whole ? sql`term = lower(${text})` : beginning(text)}`;
}

/** Row numbers, as SQL writes them; `undefined` when there are too many. They come as one text: to count them takes no time then. */
async function rowsOf(segments: Needed, { store }: SearchContext): Promise<string[] | undefined> {
  const [most, limit] = [raw(String(MOST_ROWS)), raw(String(MOST_ROWS + 1))];
  const found = joined(segments.map(rowsWith), " UNION ALL ");
  const { rows } = await store.query(
    sql`SELECT coalesce(string_agg(CAST(_row AS VARCHAR), ','), '') FROM (SELECT _row FROM (${found}) LIMIT ${limit}) HAVING count(*) <= ${most}`,
  );
  const [text] = rows[0] ?? [];
  return typeof text === "string" ? text.split(",").filter((row) => row !== "") : undefined;
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
