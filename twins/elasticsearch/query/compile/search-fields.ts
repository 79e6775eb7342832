/**
 * Runs the same search on many fields in one pass over a single relation of all their postings, keyed by field and document. One
 * join per field and word would exceed the memory limit.
 */
import { columnOf, fieldKey } from "@offhook/log-store/fields";
import { joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import { postingsNumber, postingsOfFields, wordsOfFields } from "@offhook/log-store/store/format";
import { boostOf, idfSql, lengthFactorSql, scoreSql } from "../score/bm25.ts";
import { editDistance, sharesPiece, similaritySql } from "./edit-distance.ts";
import type { FieldPart, FieldSearch, PhrasePlaces, PrefixSlot, SearchedWord, Slot } from "./field-search.ts";
import { prefixCondition } from "./pattern-conditions.ts";
import { joinedFrequencies, MAX_JOINED_WORDS } from "./phrase.ts";
import { sloppyFrequencies } from "./sloppy.ts";
import { strings } from "./values.ts";

/** The combined search of several fields. */
export interface ManyFields {
  /** `SELECT _row`: documents with a match in any of the fields, each once. */
  readonly rows: Sql;
  /** `SELECT field, _row, score`: a row for each matching field of a document; `field` is the index of its search. */
  readonly scores: Sql;
  /** The score that all matches share, if it is one number. */
  readonly uniform: number | undefined;
}

/** @param searches with equal shapes, of different fields */
export function searchFields(searches: readonly FieldSearch[]): ManyFields {
  const [{ parts, minimum } = { parts: [], minimum: 1 }] = searches;
  const fields = new Fields(searches);
  const merged = mergeWords(parts);
  const boosts = new Set(searches.map(({ boost }) => boost));
  const [boost] = boosts;
  return {
    get rows() {
      const found = joined(
        merged.map((part) => sql`SELECT field, _row, times FROM (${matchesOfPart(fields, part)})`),
        " UNION ALL ",
      );
      const enough = sql`SELECT _row FROM (${found}) GROUP BY field, _row HAVING sum(times) >= ${minimum}`;
      return sql`SELECT DISTINCT _row FROM (${minimum <= 1 ? found : enough})`;
    },
    get scores() {
      const found = merged.map(
        (part) => sql`SELECT field, _row, times, score FROM (${scoresOfPart(fields, part)})`,
      );
      const [only] = merged;
      const isSingle = merged.length === 1 && (only?.kind !== "words" || only.words.length === 1);
      const summed = isSingle
        ? sql`SELECT field, _row, score FROM (${found[0] ?? raw("")})`
        : sql`SELECT field, _row, CAST(sum(CAST(score AS DOUBLE)) AS FLOAT) AS score
            FROM (${joined(found, " UNION ALL ")}) GROUP BY field, _row HAVING sum(times) >= ${minimum}`;
      return sql`SELECT place AS field, _row, score FROM (${summed}) JOIN (${fields.places}) USING (field)`;
    },
    uniform: parts.length === 1 && parts[0]?.kind === "condition" && boosts.size === 1 ? boost : undefined,
  };
}

/** Merges all words into one part, so that one lookup serves them. */
function mergeWords(parts: readonly FieldPart[]): FieldPart[] {
  const times = new Map<string, number>();
  for (const part of parts) {
    if (part.kind !== "words") continue;
    for (const word of part.words) times.set(word.term, (times.get(word.term) ?? 0) + word.times);
  }
  const words = [...times].map(([term, count]) => ({ term, times: count }));
  const others = parts.filter(({ kind }) => kind !== "words");
  return words.length === 0 ? others : [{ kind: "words", words }, ...others];
}

/** The searched fields as relations; the column `field` holds a number that identifies the field. */
export class Fields {
  readonly #searches: readonly Pick<FieldSearch, "target" | "boost">[];

  constructor(searches: readonly Pick<FieldSearch, "target" | "boost">[]) {
    this.#searches = searches;
  }

  /** Names of the postings tables. */
  get #postings(): string[] {
    return this.#searches.map(({ target }) => (target.kind === "words" ? target.postings : ""));
  }

  get #isWhole(): boolean {
    return this.#searches[0]?.target.kind === "keyword";
  }

  #numberOf({ target }: Pick<FieldSearch, "target">, place: number): number {
    return target.kind === "words" ? postingsNumber(target.postings) : place;
  }

  /** `field, place` */
  get places(): Sql {
    const places = this.#searches.map((search, place) => ({ field: this.#numberOf(search, place), place }));
    return sql`SELECT unnest(from_json(${jsonParameter(places)}, '[{"field":"INTEGER","place":"INTEGER"}]'), recursive := true)`;
  }

  /** `field, boost, documents, average_length`; of analysed fields `tokens` too */
  get statistics(): Sql {
    const parameter = this.#searches.map((search, place) => ({
      field: this.#numberOf(search, place),
      name: fieldKey(search.target.field),
      boost: Math.fround(search.boost),
    }));
    const boosts = sql`SELECT unnest(from_json(${jsonParameter(parameter)}, '[{"field":"INTEGER","name":"VARCHAR","boost":"FLOAT"}]'), recursive := true)`;
    if (this.#isWhole) {
      return sql`SELECT field, boost, documents, 1::FLOAT AS average_length FROM (${boosts})
        JOIN (SELECT field, count(*) AS documents FROM (SELECT DISTINCT field, _row FROM (${this.occurrences(raw("true"))})) GROUP BY field) USING (field)`;
    }
    return sql`SELECT asked.field, boost, documents, tokens, CAST(CAST(tokens AS DOUBLE) / nullif(documents, 0) AS FLOAT) AS average_length
      FROM (${boosts}) AS asked JOIN field_statistics AS counted ON counted.field = asked.name`;
  }

  /** `field, _row, term, position, frequency, length`; for keywords without the position */
  occurrences(condition: Sql): Sql {
    if (!this.#isWhole) return postingsOfFields(this.#postings, condition);
    const columns = this.#searches.map((search, place) => {
      const column = columnOf(search.target.field);
      const term = search.target.field.multi ? sql`unnest(list_distinct(${column}))` : column;
      return sql`SELECT ${raw(String(place))} AS field, _row, term, 1 AS frequency, 1 AS length
        FROM (SELECT _row, ${term} AS term FROM documents WHERE ${column} IS NOT NULL) WHERE ${condition}`;
    });
    return joined(columns, " UNION ALL ");
  }

  /** `term`, with repetitions */
  words(condition: Sql): Sql {
    return this.#isWhole ? this.occurrences(condition) : wordsOfFields(this.#postings, condition);
  }
}

/** Postings hold a term's frequency at its first position in a text, and 0 at the others. */
const FIRST_OCCURRENCE = raw("frequency > 0");
const scoreOfHit = scoreSql(
  raw("weight"),
  raw("frequency"),
  lengthFactorSql(raw("length"), raw("average_length")),
);
/** The weight of a word with the document frequency `matching`. */
const weight = sql`CAST(boost * CAST(${boostOf(1)} AS FLOAT) AS FLOAT) * ${idfSql(raw("documents"), raw("matching"))}`;

/** `field, _row, times` of the matches of a part; `words` give a row for each word. */
function matchesOfPart(fields: Fields, part: FieldPart): Sql {
  switch (part.kind) {
    case "words":
      return hitsOfWords(fields, part.words);
    case "phrase":
      return sql`WITH ${phraseHits(fields, part.slots)} SELECT field, _row, 1 AS times FROM (${frequenciesOf(part)})`;
    case "expanded":
      return sql`SELECT DISTINCT field, _row, 1 AS times FROM (${hitsOfPrefix(fields, part.slot)})`;
    case "condition":
      return sql`SELECT DISTINCT field, _row, 1 AS times FROM (${fields.occurrences(sql`${FIRST_OCCURRENCE} AND ${part.condition}`)})`;
    case "fuzzy":
      return sql`WITH ${expandTerms(fields, part)} SELECT DISTINCT field, _row, 1 AS times FROM (${similarHits(fields)}) JOIN expanded USING (field, term)`;
  }
}

/** `field, _row, times, score`: for `words` a row for each word, for other parts one for each text. */
function scoresOfPart(fields: Fields, part: FieldPart): Sql {
  switch (part.kind) {
    case "words":
      return sql`WITH hits AS MATERIALIZED (${hitsOfWords(fields, part.words)}) ${scoredHits(fields)}`;
    case "phrase":
      return sql`WITH ${phraseHits(fields, part.slots)},
        rarities AS (SELECT field, CAST(sum(CAST(${idfSql(raw("documents"), raw("matching"))} AS DOUBLE)) AS FLOAT) AS rarity,
            any_value(boost) AS boost, any_value(average_length) AS average_length
          FROM (SELECT field, count(*) AS matching FROM hits WHERE ${FIRST_OCCURRENCE} GROUP BY field, place, term)
          JOIN (${fields.statistics}) USING (field) GROUP BY field)
        SELECT field, _row, 1 AS times, ${scoreOfHit} AS score
        FROM (SELECT field, _row, frequency, length, average_length,
                CAST(boost * CAST(${boostOf(1)} AS FLOAT) AS FLOAT) * rarity AS weight
              FROM (${frequenciesOf(part)}) JOIN rarities USING (field))`;
    case "expanded":
      return sql`WITH hits AS MATERIALIZED (${hitsOfPrefix(fields, part.slot)})
        SELECT field, _row, 1 AS times, CAST(sum(CAST(score AS DOUBLE)) AS FLOAT) AS score
        FROM (${scoredHits(fields)}) GROUP BY field, _row`;
    case "condition":
      return sql`SELECT field, _row, times, boost AS score FROM (${matchesOfPart(fields, part)}) JOIN (${fields.statistics}) USING (field)`;
    case "fuzzy":
      return sql`WITH ${expandTerms(fields, part)}
        SELECT field, _row, 1 AS times, CAST(sum(CAST(${scoreOfHit} AS DOUBLE)) AS FLOAT) AS score
        FROM (SELECT field, _row, frequency, length, average_length,
                boost * similarity * CAST(${boostOf(1)} AS FLOAT) * ${idfSql(raw("documents"), raw("matching"))} AS weight
              FROM (${similarHits(fields)})
              JOIN (SELECT field, term, similarity, max(matching) OVER (PARTITION BY field) AS matching FROM expanded) USING (field, term)
              JOIN (${fields.statistics}) USING (field))
        GROUP BY field, _row`;
  }
}

/** `field, _row, word, times, frequency, length` */
function hitsOfWords(fields: Fields, words: readonly SearchedWord[]): Sql {
  const parameter = jsonParameter(words.map(({ term, times }, word) => ({ word, term, times })));
  const found = fields.occurrences(
    sql`term IN ${strings(words.map(({ term }) => term))} AND ${FIRST_OCCURRENCE}`,
  );
  return sql`SELECT field, _row, word, times, frequency, length FROM (${found})
    JOIN (SELECT unnest(from_json(${parameter}, '[{"word":"INTEGER","term":"VARCHAR","times":"INTEGER"}]'), recursive := true)) USING (term)`;
}

/** `field, _row, word, times, frequency, length` of the first terms of each field with a prefix. */
function hitsOfPrefix(fields: Fields, slot: PrefixSlot): Sql {
  return sql`SELECT field, _row, term AS word, 1 AS times, frequency, length FROM (${prefixPlaces(fields, slot)}) WHERE ${FIRST_OCCURRENCE}`;
}

/** The occurrences of the first terms of each field with a prefix, in alphabetical order. */
function prefixPlaces(fields: Fields, { prefix, maxExpansions }: PrefixSlot): Sql {
  const found = fields.occurrences(prefixCondition(prefix)(raw("term")));
  return sql`SELECT * FROM (SELECT *, dense_rank() OVER (PARTITION BY field ORDER BY term) AS expansion FROM (${found}))
    WHERE expansion <= ${raw(String(maxExpansions))}`;
}

/** `field, _row, times, score` of `hits`, with each word's document frequency in its field. */
function scoredHits(fields: Fields): Sql {
  return sql`SELECT field, _row, times, ${scoreOfHit} AS score FROM hits
    JOIN (SELECT field, word, CAST(times AS FLOAT) * ${weight} AS weight, average_length
          FROM (SELECT field, word, any_value(times) AS times, count(*) AS matching FROM hits GROUP BY field, word)
          JOIN (${fields.statistics}) USING (field)) USING (field, word)`;
}

/** CTE `hits`: the occurrences of a phrase's words, `field, _row, place, term, position, frequency, length`. */
function phraseHits(fields: Fields, slots: readonly Slot[]): Sql {
  const words = slots.flatMap((slot) =>
    slot.kind === "word" ? [{ place: slot.place, term: slot.term }] : [],
  );
  const found = fields.occurrences(sql`term IN ${strings([...new Set(words.map(({ term }) => term))])}`);
  const prefixes = slots.flatMap((slot) =>
    slot.kind === "prefix"
      ? [
          sql` UNION ALL SELECT field, _row, ${raw(String(slot.place))} AS place, term, position, frequency, length FROM (${prefixPlaces(fields, slot)})`,
        ]
      : [],
  );
  return sql`hits AS MATERIALIZED (SELECT field, _row, place, '' AS term, position, frequency, length FROM (${found})
      JOIN (SELECT unnest(from_json(${jsonParameter(words)}, '[{"place":"INTEGER","term":"VARCHAR"}]'), recursive := true)) USING (term)
      ${joined(prefixes, "")})`;
}

const placesOfHits: PhrasePlaces = {
  keys: raw("field, _row"),
  place: (slot) =>
    sql`SELECT field, _row, position, frequency, length FROM hits WHERE place = ${raw(String(slot.place))}`,
};

/** `field, _row, frequency, length` of the texts with the phrase, from `hits`. */
function frequenciesOf({ slots, slop }: Extract<FieldPart, { kind: "phrase" }>): Sql {
  if (slop > 0) return sloppyFrequencies(placesOfHits, slots, slop);
  if (slots.length <= MAX_JOINED_WORDS) return joinedFrequencies(placesOfHits, slots);
  return sql`SELECT field, _row, CAST(count(*) AS FLOAT) AS frequency, any_value(length) AS length
    FROM (SELECT field, _row, position - place AS start, any_value(length) AS length FROM hits
          GROUP BY field, _row, start HAVING count(*) = ${raw(String(slots.length))})
    GROUP BY field, _row`;
}

/** CTE `expanded`: `field, term, matching, similarity` of each field's terms within the edit distance, the most similar first. */
function expandTerms(fields: Fields, { word, changes, fuzzy }: Extract<FieldPart, { kind: "fuzzy" }>): Sql {
  const length = [...word].length;
  const start = [...word].slice(0, fuzzy.prefixLength).join("");
  const near = sql`${prefixCondition(start)(raw("term"))} AND length(term) BETWEEN ${Math.max(0, length - changes)} AND ${length + changes}
    AND ${sharesPiece(raw("term"), word, changes, fuzzy)}`;
  return sql`near AS MATERIALIZED (SELECT DISTINCT term FROM (${fields.words(near)})),
    compared AS MATERIALIZED (SELECT * FROM (SELECT *, ${editDistance(raw("term"), word, fuzzy)} AS changes FROM near) WHERE changes <= ${changes}),
    expanded AS MATERIALIZED (SELECT field, term, matching, similarity
      FROM (SELECT *, row_number() OVER (PARTITION BY field ORDER BY similarity DESC, term) AS expansion
            FROM (SELECT field, term, matching,
                    CAST(CASE WHEN changes = 0 THEN 1 ELSE ${similaritySql(length)} END AS FLOAT) AS similarity
                  FROM (SELECT field, term, count(*) AS matching FROM (${similarHits(fields)}) GROUP BY field, term) JOIN compared USING (term)))
      WHERE expansion <= ${raw(String(fuzzy.maxExpansions))})`;
}

/** The occurrences of the terms in `compared`. */
function similarHits(fields: Fields): Sql {
  return fields.occurrences(sql`term IN (SELECT unnest(list(term)) FROM compared) AND ${FIRST_OCCURRENCE}`);
}
