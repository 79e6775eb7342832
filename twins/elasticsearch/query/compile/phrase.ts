/** Phrases: words in order, adjacent or within the slop. */
import { identifier, joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { tooManyClauses } from "../errors.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explainPhrase } from "../score/explain.ts";
import type { PhrasePlaces, Slot } from "./field-search.ts";
import { inField, inRows, type Matcher } from "./matcher.ts";
import { prefixCondition } from "./pattern-conditions.ts";
import { sloppyFrequencies } from "./sloppy.ts";
import type { WordsTarget } from "./target.ts";

/** Phrases up to this length join the postings of their words; longer ones are counted in one pass. */
export const MAX_JOINED_WORDS = 8;
/** Limit for phrases with slop: their matcher walks the positions of all words together. */
const MAX_SLOPPY_WORDS = 64;

/** Matches documents with the phrase. @param slots at least two */
export function phrase(target: WordsTarget, slots: readonly Slot[], slop: number, boost: number): Matcher {
  if (slop > 0 && slots.length > MAX_SLOPPY_WORDS) throw tooManyClauses(MAX_SLOPPY_WORDS);
  const search = { target, boost, parts: [{ kind: "phrase" as const, slots, slop }], minimum: 1 };
  return inField(search, () => phraseInField(target, slots, slop, boost));
}

function phraseInField(target: WordsTarget, slots: readonly Slot[], slop: number, boost: number): Matcher {
  const places = placesIn(target);
  const frequencies =
    slop > 0
      ? sloppyFrequencies(places, slots, slop)
      : slots.length <= MAX_JOINED_WORDS
        ? joinedFrequencies(places, slots)
        : countedFrequencies(target, slots);
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
        const [rarity, averageLength] = target.termStatistics?.(rarityOf(target, slots)) ?? [];
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

/** A condition on `term` that selects a slot's words. */
export function slotCondition(target: WordsTarget, slot: Slot): Sql {
  if (slot.kind === "word") return sql`term = ${slot.term}`;
  const terms = identifier(target.postings);
  const fits = prefixCondition(slot.prefix)(raw("term"));
  return sql`${fits} AND term IN (SELECT DISTINCT term FROM ${terms} WHERE ${fits} ORDER BY term LIMIT ${raw(String(slot.maxExpansions))})`;
}

function placesIn(target: WordsTarget): PhrasePlaces {
  return {
    keys: raw("_row"),
    place: (slot) =>
      sql`SELECT _row, position, frequency, length FROM ${identifier(target.postings)} WHERE ${slotCondition(target, slot)}`,
  };
}

/** The keys, `frequency, length` of the texts with the exact phrase. */
export function joinedFrequencies({ keys, place }: PhrasePlaces, slots: readonly Slot[]): Sql {
  const places = slots.map((slot, index) => {
    const number = raw(String(slot.place));
    return sql`(SELECT ${keys}, position - ${number} AS start, length FROM (${place(slot)})) AS ${raw(`p${index}`)}`;
  });
  const [first, ...others] = places;
  const joins = others.map((other) => sql`JOIN ${other} USING (${keys}, start)`);
  return sql`SELECT ${keys}, CAST(count(*) AS FLOAT) AS frequency, any_value(p0.length) AS length
    FROM ${first ?? raw("")} ${joined(joins, " ")} GROUP BY ${keys}`;
}

/** Counts the hits for each start position: the phrase is there when there are as many as slots. */
function countedFrequencies(target: WordsTarget, slots: readonly Slot[]): Sql {
  const table = identifier(target.postings);
  const prefixes = slots.flatMap((slot) =>
    slot.kind === "prefix"
      ? [
          sql` UNION ALL SELECT _row, position - ${raw(String(slot.place))} AS start, length FROM ${table} WHERE ${slotCondition(target, slot)}`,
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
  const words = slots.flatMap((slot) =>
    slot.kind === "word" ? [{ place: slot.place, word: slot.term }] : [],
  );
  return sql`SELECT unnest(from_json(${jsonParameter(words)}, '[{"place":"INTEGER","word":"VARCHAR"}]'), recursive := true)`;
}

/** One row: `rarity`, the sum of the idf of every word at every place, and `average_length`. */
function rarityOf(target: WordsTarget, slots: readonly Slot[]): Sql {
  const table = identifier(target.postings);
  const matching =
    slots.length <= MAX_JOINED_WORDS
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
  target: WordsTarget,
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
