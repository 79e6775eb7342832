/** Terms and phrases: what is looked for in the text of an event. */
import { piecesOf } from "../../../datasets/segments.ts";
import { identifier, joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { SearchContext } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { quoted, termPattern } from "./term-pattern.ts";

type Term = Pick<Extract<SearchExpression, { node: "term" }>, "value" | "mode">;

/** The segments of the events' texts, where they can be looked up. */
export interface SegmentIndex {
  /** Column of the rows with their number. */
  row: string;
  /** From which row on events have no segments yet; `undefined`: all have. */
  firstUnsegmented: number | undefined;
}

export function segmentIndex({ store }: SearchContext, row: string): SegmentIndex | undefined {
  if (store.fields.textIndex !== "raw") return undefined;
  const { segmentedRows, nextRow } = store;
  return { row, firstUnsegmented: segmentedRows < nextRow ? segmentedRows : undefined };
}

/**
 * @param text a column of texts
 * @param index absent: every text is looked at
 * @returns never NULL
 */
export function termMatches(term: Term, text: Sql, index?: SegmentIndex): Sql {
  const segment = index && segmentOf(term);
  if (index === undefined || segment === undefined) return scanned(term, text);
  const row = identifier(index.row);
  const found = sql`${row} IN (SELECT _row FROM segments WHERE in_text AND ${segment})`;
  if (index.firstUnsegmented === undefined) return found;
  return sql`(${found} OR (${row} >= ${raw(String(index.firstUnsegmented))} AND ${scanned(term, text)}))`;
}

/** What a segment of the text is, when that is all that a term says. */
function segmentOf({ value, mode }: Term): Sql | undefined {
  const { text } = value;
  const begins = text.endsWith("*");
  const segment = begins ? text.replace(/\*+$/, "") : text;
  if (mode === "case" || segment === "" || piecesOf(segment).length > 1) return undefined;
  return begins ? beginning(segment) : sql`term = lower(${segment})`;
}

/** That a segment begins so. */
export function beginning(text: string): Sql {
  return sql`(starts_with(term, lower(${text})) AND term >= lower(${text}) AND term < lower(${text}) || chr(1114111))`;
}

/**
 * Whether the text has the term, looked for in the text itself. To look for the ends of a term takes several times as long as to look
 * for its characters; so texts without these are sorted out first, and then those where it stands behind quotes or a blank.
 */
function scanned({ value, mode }: Term, text: Sql): Sql {
  const term = termPattern(value.text, mode === "term");
  if (term === undefined) return raw("true");
  const { literals, tail, longTail, start } = term;
  const isCase = mode === "case";
  const matches = (pattern: string) =>
    sql`regexp_matches(${text}, ${pattern}, ${raw(isCase ? "'s'" : "'si'")})`;
  const isFast = isCase || beginsFast(literals[0] ?? "");
  const [longest = ""] = [...literals].sort((a, b) => b.length - a.length);
  const containsIt = isCase
    ? sql`contains(${text}, ${longest})`
    : sql`contains(lower(${text}), lower(${longest}))`;
  const has = !isCase && isFast ? matches(longTail) : containsIt;
  if (start === undefined) {
    const isExact = (!isCase && isFast) || longTail === quoted(longest);
    return isExact ? never(has) : sql`CASE WHEN ${never(has)} THEN ${matches(longTail)} ELSE false END`;
  }
  const usual = isFast ? ['"', " "].map((before) => sql` WHEN ${matches(before + tail)} THEN true`) : [];
  const hasLong = sql`(contains(${text}, '%') OR contains(${text}, '--'))`;
  const exactly = sql`${matches(start.any + tail)} OR (${hasLong} AND ${matches(start.long + longTail)})`;
  return sql`CASE WHEN NOT ${never(has)} THEN false${joined(usual, "")} ELSE ${exactly} END`;
}

/** Not NULL, but false. */
function never(condition: Sql): Sql {
  return sql`coalesce(${condition}, false)`;
}

/**
 * Whether RE2 finds the text fast where case does not count: not if one of its first letters has a third form, as `s` has the long s
 * and `k` the sign of the kelvin.
 */
function beginsFast(text: string): boolean {
  return /^[!-~][ -~]/.test(text) && !/[sk]/i.test(text.slice(0, 3));
}
