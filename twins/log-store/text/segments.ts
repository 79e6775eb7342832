/**
 * splunkd's segmentation of an event's text into indexed terms. Major breakers end a term; minor breakers split it further.
 * Source: https://help.splunk.com/en/splunk-enterprise/search/spl2-search-manual/event-segmentation
 */
import { type Sql, sql, textLiteral } from "../sql.ts";

/** For a character class of RE2. */
export const MAJOR_BREAKERS = "\\[\\]<>(){}|!;,'\"*\\t\\n\\f\\r &?+";
export const MINOR_BREAKERS = "/:=@.\\-$#%\\\\_";
/** Major breakers of several characters: URL-encoded marks. `--`, another one, consists of minor breakers anyway. */
export const ENCODED_BREAKERS = "%(?:2526|2520|2[01689BC]|3[ABD]|5[BD]|7C|0A)";

/** Any breaker of one character. */
const breaker = /[[\]<>(){}|!;,'"*\t\n\f\r &?+/:=@.\-$#%\\_]/;
const SEGMENT = `[^${MAJOR_BREAKERS}${MINOR_BREAKERS}]+`;

/** The pieces between breakers, in their order; empty ones where breakers adjoin or the text starts or ends with one. */
export function piecesOf(text: string): string[] {
  return text.split(breaker);
}

/**
 * The segments of a text, in lower case, as a LIST with duplicates. An encoded breaker counts both as a breaker and as the characters
 * that it consists of.
 */
export function segmentsSql(text: Sql): Sql {
  const cut = (lower: Sql) => sql`regexp_extract_all(${lower}, ${textLiteral(SEGMENT)})`;
  const lower = sql`lower(${text})`;
  const decoded = sql`regexp_replace(${lower}, ${textLiteral(ENCODED_BREAKERS.toLowerCase())}, ' ', 'g')`;
  return sql`CASE WHEN contains(${text}, '%') THEN list_concat(${cut(lower)}, ${cut(decoded)}) ELSE ${cut(lower)} END`;
}
