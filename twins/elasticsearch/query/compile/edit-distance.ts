/**
 * Edit distance as Lucene counts it: insertions, deletions, substitutions and, as one edit, transpositions of neighbours that are not
 * edited again (optimal string alignment).
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Fuzzy } from "../syntax/query.ts";
import { escapeRe2 } from "./pattern-conditions.ts";

/** The highest distance that a request may ask for; greater ones need not be exact. */
const MAX_CHANGES = 2;
/** Bytes that stand in for characters while comparing, those rare in words first. */
const STAND_INS = Array.from({ length: 0x7e }, (_, index) => String.fromCharCode(index + 1));

/** The distance of a term from a word; some number above two when it is greater. */
export function editDistance(
  term: Sql,
  word: string,
  { transpositions }: Pick<Fuzzy, "transpositions">,
): Sql {
  const bytes = encodeBytes(word);
  const [t, w] = [bytes.termSql(term), bytes.word];
  const plain = sql`levenshtein(t, ${w})`;
  if (!transpositions) return bindOnce(t, plain);
  // A transposition is at most two plain edits, so the plain distance, three times as fast, excludes most terms first.
  return bindOnce(
    t,
    sql`CASE WHEN ${plain} > ${2 * MAX_CHANGES} THEN ${2 * MAX_CHANGES}
      WHEN damerau_levenshtein(t, ${w}) = 2 AND ${plain} = 3 AND NOT ${isSwappedOnce(w)} AND NOT ${isSwappedTwice(w)} THEN 3
      ELSE damerau_levenshtein(t, ${w}) END`,
  );
}

/** Binds `t` for an expression, so that it is evaluated once. */
function bindOnce(t: Sql, expression: Sql): Sql {
  return sql`list_transform([${t}], lambda t: ${expression})[1]`;
}

/**
 * Whether `t` is the word with one transposition and one plain edit before or behind it. DuckDB also counts two for an insertion
 * between the transposed characters, which Lucene counts as three.
 */
function isSwappedOnce(word: string): Sql {
  const at = (
    by: -1 | 0 | 1,
  ) => sql`(substring(t, i + ${raw(String(by))}, 2) = substring(${word}, i + 1, 1) || substring(${word}, i, 1)
    AND levenshtein(substring(${word}, 1, i - 1), substring(t, 1, i - 1 + ${raw(String(by))}))
      + levenshtein(substring(${word}, i + 2), substring(t, i + 2 + ${raw(String(by))})) <= 1)`;
  const places = sql`list_transform(range(1, ${raw(String(word.length))}), lambda i: ${at(-1)} OR ${at(0)} OR ${at(1)})`;
  return sql`coalesce(list_bool_or(${places}), false)`;
}

/** Whether `t` is the word with two transpositions, which can be as few as three plain edits. */
function isSwappedTwice(word: string): Sql {
  const others = sql`list_filter(range(1, ${raw(String(word.length + 1))}), lambda i: substring(t, i, 1) <> substring(${word}, i, 1))`;
  const swapped = (first: string) =>
    sql`m[${raw(first)} + 1] = m[${raw(first)}] + 1 AND substring(t, m[${raw(first)}], 2) = reverse(substring(${word}, m[${raw(first)}], 2))`;
  return sql`(strlen(t) = ${raw(String(word.length))}
    AND list_transform([${others}], lambda m: len(m) = 4 AND ${swapped("1")} AND ${swapped("3")})[1])`;
}

/** Lucene's similarity of `term` to the word, from `changes`: 0 when all of the shorter one is edited. @param length of the word */
export function similaritySql(length: number): Sql {
  return sql`greatest(0, 1::FLOAT - changes::FLOAT / least(length(term), ${length})::FLOAT)`;
}

/**
 * Maps characters to bytes, since DuckDB's distance compares bytes: each character of the word to its own, all others to one that the
 * word does not contain.
 */
function encodeBytes(word: string): { word: string; termSql: (term: Sql) => Sql } {
  const wide = [...new Set(word)].filter((character) => character > "\u007f");
  const [other = "", ...free] = STAND_INS.filter((character) => !word.includes(character));
  // With more distinct characters than bytes, the last ones share a byte.
  const standIns = wide.map((_, index) => free[Math.min(index, free.length - 1)] ?? other);
  const byteOf = new Map(wide.map((character, index) => [character, standIns[index] ?? other]));
  const from = [...wide, ...new Set(standIns)].join("");
  const to = standIns.join("") + other.repeat(new Set(standIns).size);
  const inAscii = (text: Sql) => sql`regexp_replace(${text}, '[^\\x00-\\x7f]', ${other}, 'g')`;
  return {
    word: [...word].map((character) => byteOf.get(character) ?? character).join(""),
    termSql: (term) =>
      wide.length === 0
        ? sql`CASE WHEN strlen(${term}) = length(${term}) THEN ${term} ELSE ${inAscii(term)} END`
        : inAscii(sql`translate(${term}, ${from}, ${to})`),
  };
}

/**
 * Prefilter by the pigeonhole principle: of a word cut into more pieces than edits can touch, any term within the distance contains
 * one unchanged. True for words too short to cut. Takes a fraction of the time of a comparison.
 */
export function sharesPiece(
  term: Sql,
  word: string,
  changes: number,
  { transpositions }: Pick<Fuzzy, "transpositions">,
): Sql {
  const characters = [...word];
  const pieces = (transpositions ? 2 : 1) * changes + 1;
  const size = Math.floor(characters.length / pieces);
  if (size < 2) return raw("true");
  const texts = Array.from({ length: pieces }, (_, index) =>
    escapeRe2(characters.slice(index * size, index === pieces - 1 ? undefined : (index + 1) * size).join("")),
  );
  return sql`regexp_matches(${term}, ${[...new Set(texts)].join("|")})`;
}
