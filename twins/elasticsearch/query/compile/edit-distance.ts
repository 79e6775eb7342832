/**
 * How many characters are to be changed to make one word another, as Lucene counts them: inserted, removed, another in its place, or
 * (as one change) two neighbours the other way round, where neither is changed again.
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Fuzzy } from "../syntax/query.ts";
import { quoted } from "./patterns.ts";

/** Most changes that are told from more: what a request may ask for. */
const MOST_CHANGES = 2;
/** What takes the place of characters while they are compared: bytes that hardly ever stand in a word come first. */
const STAND_INS = Array.from({ length: 0x7e }, (_, index) => String.fromCharCode(index + 1));

/** The changes between a term and a word; some number above two for more. */
export function editDistance(
  term: Sql,
  word: string,
  { transpositions }: Pick<Fuzzy, "transpositions">,
): Sql {
  const bytes = inBytes(word);
  const [t, w] = [bytes.termSql(term), bytes.word];
  const plain = sql`levenshtein(t, ${w})`;
  if (!transpositions) return alone(t, plain);
  // A change of places is two other changes, and what counts without it takes a third of the time.
  return alone(
    t,
    sql`CASE WHEN ${plain} > ${2 * MOST_CHANGES} THEN ${2 * MOST_CHANGES}
      WHEN damerau_levenshtein(t, ${w}) = 2 AND ${plain} = 3 AND NOT ${swappedOnce(w)} AND NOT ${swappedTwice(w)} THEN 3
      ELSE damerau_levenshtein(t, ${w}) END`,
  );
}

/** The expression over `t`, which is calculated once. */
function alone(t: Sql, expression: Sql): Sql {
  return sql`list_transform([${t}], lambda t: ${expression})[1]`;
}

/**
 * Whether `t` is the word with two neighbours the other way round and one character more or less before or behind them. DuckDB also
 * counts as two changes what puts a character between the two.
 */
function swappedOnce(word: string): Sql {
  const at = (
    by: -1 | 0 | 1,
  ) => sql`(substring(t, i + ${raw(String(by))}, 2) = substring(${word}, i + 1, 1) || substring(${word}, i, 1)
    AND levenshtein(substring(${word}, 1, i - 1), substring(t, 1, i - 1 + ${raw(String(by))}))
      + levenshtein(substring(${word}, i + 2), substring(t, i + 2 + ${raw(String(by))})) <= 1)`;
  const places = sql`list_transform(range(1, ${raw(String(word.length))}), lambda i: ${at(-1)} OR ${at(0)} OR ${at(1)})`;
  return sql`coalesce(list_bool_or(${places}), false)`;
}

/** Whether `t` is the word with two pairs of neighbours the other way round, which are no more than three plain changes. */
function swappedTwice(word: string): Sql {
  const others = sql`list_filter(range(1, ${raw(String(word.length + 1))}), lambda i: substring(t, i, 1) <> substring(${word}, i, 1))`;
  const swapped = (first: string) =>
    sql`m[${raw(first)} + 1] = m[${raw(first)}] + 1 AND substring(t, m[${raw(first)}], 2) = reverse(substring(${word}, m[${raw(first)}], 2))`;
  return sql`(strlen(t) = ${raw(String(word.length))}
    AND list_transform([${others}], lambda m: len(m) = 4 AND ${swapped("1")} AND ${swapped("3")})[1])`;
}

/** How alike a term is to a word, over `term` and `changes`: 0 where all of the shorter one is changed. @param length of the word */
export function likenessSql(length: number): Sql {
  return sql`greatest(0, 1::FLOAT - changes::FLOAT / least(length(term), ${length})::FLOAT)`;
}

/**
 * DuckDB compares bytes. So each character of the word becomes a byte, and any that the word has not becomes one other byte: it is
 * never the same as one of the word.
 */
function inBytes(word: string): { word: string; termSql: (term: Sql) => Sql } {
  const wide = [...new Set(word)].filter((character) => character > "\u007f");
  const [other = "", ...free] = STAND_INS.filter((character) => !word.includes(character));
  // A word with more characters than there are bytes: the last of them count as one.
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
 * What any term within so many changes meets: of the word cut into more pieces than changes can touch, it has one as it is. True for
 * a word too short to be cut. It takes a fraction of the time of a comparison.
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
    quoted(characters.slice(index * size, index === pieces - 1 ? undefined : (index + 1) * size).join("")),
  );
  return sql`regexp_matches(${term}, ${[...new Set(texts)].join("|")})`;
}
