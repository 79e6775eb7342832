/** Words in their order, next to each other or nearly. */
import { identifier, joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Ask, Explanation } from "../compiled-query.ts";
import { tooManyClauses } from "../errors.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explainPhrase } from "../score/explain.ts";
import { inRows, type Matcher } from "./matcher.ts";
import { prefixCondition } from "./patterns.ts";
import { sloppyFrequencies } from "./sloppy.ts";
import type { Words } from "./words.ts";

/** What stands at one place of a phrase: a word, or (at the last place) words with a prefix. */
export type Slot =
  | { readonly kind: "word"; readonly term: string }
  | { readonly kind: "prefix"; readonly prefix: string; readonly maxExpansions: number };

/** Phrases up to here join the postings of their words; longer ones are counted in one pass. */
const JOINED_WORDS = 8;
/** Words of a phrase with slop: the places of all of them are walked together. */
const MAX_MOVED_WORDS = 64;

/** Documents with the phrase. @param slots at least two */
export function phrase(target: Words, slots: readonly Slot[], slop: number, boost: number): Matcher {
  if (slop > 0 && slots.length > MAX_MOVED_WORDS) throw tooManyClauses(MAX_MOVED_WORDS);
  const frequencies = slop === 0 ? exactFrequencies(target, slots) : sloppyFrequencies(target, slots, slop);
  const score = scoreSql(
    raw("weight"),
    raw("frequency"),
    lengthFactorSql(raw("length"), raw("average_length")),
  );
  return {
    predicate: inRows(sql`SELECT _row FROM (${frequencies})`),
    rows: sql`SELECT _row FROM (${frequencies})`,
    score: {
      kind: "ranked",
      get rows() {
        const [rarity, averageLength] = target.figures?.(rarityOf(target, slots)) ?? [];
        const weights =
          rarity === undefined || averageLength === undefined
            ? sql`SELECT CAST(${boostOf(boost)} AS FLOAT) * rarity AS weight, average_length FROM (${rarityOf(target, slots)})`
            : sql`SELECT CAST(${Math.fround(boostOf(boost) * rarity)} AS FLOAT) AS weight, CAST(${averageLength} AS FLOAT) AS average_length`;
        return sql`(SELECT _row, ${score} AS score FROM (${frequencies}), (${weights}))`;
      },
    },
    explain: (ask, row) => explain(target, slots, frequencies, boost, ask, row),
  };
}

/** Where a slot's words stand. */
export function slotCondition(target: Words, slot: Slot): Sql {
  if (slot.kind === "word") return sql`term = ${slot.term}`;
  const terms = identifier(target.postings);
  const fits = prefixCondition(slot.prefix)(raw("term"));
  return sql`${fits} AND term IN (SELECT DISTINCT term FROM ${terms} WHERE ${fits} ORDER BY term LIMIT ${raw(String(slot.maxExpansions))})`;
}

/** `_row, frequency, length` of the documents that have the phrase as it is. */
function exactFrequencies(target: Words, slots: readonly Slot[]): Sql {
  return slots.length <= JOINED_WORDS ? joinedFrequencies(target, slots) : countedFrequencies(target, slots);
}

function joinedFrequencies(target: Words, slots: readonly Slot[]): Sql {
  const table = identifier(target.postings);
  const places = slots.map(
    (slot, index) =>
      sql`(SELECT _row, position - ${raw(String(index))} AS start, length FROM ${table} WHERE ${slotCondition(target, slot)}) AS ${raw(`p${index}`)}`,
  );
  const [first, ...others] = places;
  const joins = others.map((place) => sql`JOIN ${place} USING (_row, start)`);
  return sql`SELECT _row, CAST(count(*) AS FLOAT) AS frequency, any_value(p0.length) AS length
    FROM ${first ?? raw("")} ${joined(joins, " ")} GROUP BY _row`;
}

/** A beginning at which each place has its word: there are as many finds as places. */
function countedFrequencies(target: Words, slots: readonly Slot[]): Sql {
  const table = identifier(target.postings);
  const prefixes = slots.flatMap((slot, place) =>
    slot.kind === "prefix"
      ? [
          sql` UNION ALL SELECT _row, position - ${raw(String(place))} AS start, length FROM ${table} WHERE ${slotCondition(target, slot)}`,
        ]
      : [],
  );
  return sql`SELECT _row, CAST(count(*) AS FLOAT) AS frequency, any_value(length) AS length FROM (
      SELECT _row, start, any_value(length) AS length FROM (
        SELECT _row, position - place AS start, length FROM ${table} JOIN (${placesOf(slots)}) AS places ON term = places.word
        ${joined(prefixes, "")})
      GROUP BY _row, start HAVING count(*) = ${raw(String(slots.length))})
    GROUP BY _row`;
}

/** `place, word` of the words of a long phrase. */
function placesOf(slots: readonly Slot[]): Sql {
  const words = slots.flatMap((slot, place) => (slot.kind === "word" ? [{ place, word: slot.term }] : []));
  return sql`SELECT unnest(from_json(${JSON.stringify(words)}, '[{"place":"INTEGER","word":"VARCHAR"}]'), recursive := true)`;
}

/** One row: `rarity`, the sum of the idf of every word at every place, and `average_length`. */
function rarityOf(target: Words, slots: readonly Slot[]): Sql {
  const table = identifier(target.postings);
  const matching =
    slots.length <= JOINED_WORDS
      ? slots.map(
          (slot) =>
            sql`SELECT count(*) AS matching FROM ${table}
              WHERE ${slotCondition(target, slot)} AND frequency > 0 ${raw(slot.kind === "prefix" ? "GROUP BY term" : "")}`,
        )
      : [
          sql`SELECT count(*) AS matching FROM ${table} JOIN (${placesOf(slots)}) AS places ON term = places.word
            WHERE frequency > 0 GROUP BY place, term`,
        ];
  return sql`SELECT CAST(sum(CAST(${idfSql(raw("documents"), raw("matching"))} AS DOUBLE)) AS FLOAT) AS rarity,
      any_value(average_length) AS average_length
    FROM (${joined(matching, " UNION ALL ")}), (${statisticsSql(target.field)})`;
}

function explain(
  target: Words,
  slots: readonly Slot[],
  frequencies: Sql,
  boost: number,
  ask: Ask,
  row: bigint,
): Promise<Explanation> {
  const text = slots.map((slot) => (slot.kind === "word" ? slot.term : `${slot.prefix}*`)).join(" ");
  const terms = slots.flatMap((slot) => (slot.kind === "word" ? [slot.term] : []));
  return explainPhrase(target, `${target.name}:"${text}"`, terms, frequencies, boost, ask, row);
}
