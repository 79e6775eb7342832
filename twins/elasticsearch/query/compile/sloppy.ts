/**
 * Frequencies of phrases with slop, after Lucene's sloppy matcher. Each word has a list of positions relative to its place in the
 * phrase. The word that lies furthest back advances; whenever it would pass the next one, the positions match if their spread is
 * within the slop, and count 1 / (1 + spread).
 */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { PhrasePlaces, Slot } from "./field-search.ts";

/** The keys, `frequency, length` of the texts with the phrase within the slop. */
export function sloppyFrequencies(places: PhrasePlaces, slots: readonly Slot[], slop: number): Sql {
  const { keys } = places;
  const firsts = slots.map((slot, place) => sql`(${firstOf(places, slot)}) AS ${raw(`w${place}`)}`);
  const lists = slots.map(
    (
      slot,
      place,
    ) => sql`(SELECT ${keys}, list(position - ${raw(String(slot.place))} ORDER BY position) AS ${raw(`places${place}`)}
      FROM (${places.place(slot)}) SEMI JOIN (SELECT ${keys} FROM firsts WHERE NOT single) USING (${keys}) GROUP BY ${keys})`,
  );
  const [first, ...others] = firsts;
  const joins = others.map((other) => sql`JOIN ${other} USING (${keys})`);
  const all = raw(slots.map((_, place) => `places${place}`).join(", "));
  const starts = slots.map((slot, place) => `w${place}.position - ${slot.place}`).join(", ");
  const spread = raw(`greatest(${starts}) - least(${starts})`);
  // One occurrence never serves two places of the phrase.
  const collision = collisionOf(slots);
  const moved = raw("list_position(heads, list_min(heads))");
  const single = raw(slots.map((_, place) => `w${place}.frequency = 1`).join(" AND "));
  // Fast path: most documents have each word once, and need no walk.
  return sql`WITH RECURSIVE firsts AS MATERIALIZED (
      SELECT ${keys}, w0.length AS length, [${raw(starts)}] AS heads, ${spread} AS spread, ${single} AS single
      FROM ${first ?? raw("")} ${joined(joins, " ")}
      WHERE NOT (${single}) OR ${spread} <= ${raw(String(slop))}),
    found AS MATERIALIZED (
      SELECT ${keys}, length, [${all}] AS places, heads
      FROM (SELECT * FROM firsts WHERE NOT single) ${joined(
        lists.map((list) => sql`JOIN ${list} USING (${keys})`),
        " ",
      )}),
    walk AS (
      SELECT ${keys}, length, places, heads, CAST(0 AS FLOAT) AS frequency, false AS done FROM found
      UNION ALL
      SELECT ${keys}, length, places,
        CASE WHEN ahead IS NULL THEN heads
             ELSE list_concat(list_concat(heads[:mover - 1], [ahead]), heads[mover + 1:]) END,
        CAST(frequency + CASE WHEN NOT collides AND spread <= ${raw(String(slop))} THEN 1.0 / (1 + spread) ELSE 0 END AS FLOAT),
        ahead IS NULL
      FROM (
        SELECT *, list_max(heads) - list_max(list_filter(places[mover], lambda p: p >= heads[mover] AND p <= reach)) AS spread,
          list_min(list_filter(places[mover], lambda p: p > reach)) AS ahead
        FROM (
          SELECT *, CASE WHEN collides THEN heads[mover]
              ELSE list_min(list_concat(heads[:mover - 1], heads[mover + 1:])) END AS reach
          FROM (SELECT *, coalesce(${collision}, ${moved}) AS mover, ${collision} IS NOT NULL AS collides
                FROM walk WHERE NOT done))))
    SELECT ${keys}, frequency, length FROM walk WHERE done AND frequency > 0
    UNION ALL
    SELECT ${keys}, CAST(1.0 / (1 + spread) AS FLOAT), length FROM firsts
    WHERE single AND ${collision} IS NULL`;
}

/** The keys, `position, frequency, length`: the first position of a slot's words in a text, and how often they occur. */
function firstOf({ keys, place }: PhrasePlaces, slot: Slot): Sql {
  const rows = sql`FROM (${place(slot)}) WHERE frequency > 0`;
  return slot.kind === "word"
    ? sql`SELECT ${keys}, position, frequency, length ${rows}`
    : sql`SELECT ${keys}, min(position) AS position, sum(frequency) AS frequency, any_value(length) AS length ${rows} GROUP BY ${keys}`;
}

function mayBe(slot: Slot, term: string): boolean {
  return slot.kind === "word" ? slot.term === term : term.startsWith(slot.prefix);
}

/** The place that must advance because an earlier one uses the same occurrence; NULL without such a collision. */
function collisionOf(slots: readonly Slot[]): Sql {
  const cases: string[] = [];
  slots.forEach((slot, place) => {
    for (let later = place + 1; later < slots.length; later++) {
      const other = slots[later];
      if (slot.kind !== "word" || !other || !mayBe(other, slot.term)) continue;
      const distance = other.place - slot.place;
      cases.push(`WHEN heads[${place + 1}] = heads[${later + 1}] + ${distance} THEN ${later + 1}`);
    }
  });
  return raw(cases.length === 0 ? "NULL" : `CASE ${cases.join(" ")} ELSE NULL END`);
}
