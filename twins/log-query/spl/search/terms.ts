/** Terms and phrases: what is looked for in the text of an event. */
import { piecesOf } from "../../../datasets/segments.ts";
import { identifier, joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { SearchContext } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { termPattern } from "./term-pattern.ts";

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

function scanned({ value, mode }: Term, text: Sql): Sql {
  const { pattern, longPattern, literals } = termPattern(value.text, mode === "term");
  if (pattern === undefined || longPattern === undefined) return raw("true");
  // What is cheap to look for comes first.
  const [longest = ""] = [...literals].sort((a, b) => b.length - a.length);
  const isCase = mode === "case";
  const has = isCase ? sql`contains(${text}, ${longest})` : sql`contains(lower(${text}), lower(${longest}))`;
  const matches = (one: string) => sql`regexp_matches(${text}, ${one}, ${raw(isCase ? "'s'" : "'si'")})`;
  const hasLong = sql`(contains(${text}, '%') OR contains(${text}, '--')) AND ${matches(longPattern)}`;
  return sql`coalesce(${joined([has, sql`(${matches(pattern)} OR ${hasLong})`], " AND ")}, false)`;
}
