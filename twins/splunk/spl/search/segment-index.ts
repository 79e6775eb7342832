/**
 * The segment index: maps a segment to the rows that contain it, as a bitmap with one bit for each event. The database combines
 * bitmaps, and tests them for each event before it reads any other column.
 */

import type { FieldCatalog } from "@offhook/log-store/fields";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { rowIn } from "./row-numbers.ts";

/** A set of rows, as an expression over the index. */
export type RowSet =
  /** Rows with one of these segments. `inText`: in the event's text, else possibly in its JSON only. */
  | { readonly kind: "words"; readonly words: readonly string[]; readonly inText: boolean }
  /** Rows with a segment in their text that meets `condition` on `term`. */
  | { readonly kind: "segments"; readonly condition: Sql }
  | { readonly kind: "and" | "or"; readonly sets: readonly RowSet[] }
  | { readonly kind: "not"; readonly set: RowSet };

/** An evaluated set, as it goes into a statement: few rows as numbers, else the bitmap in hexadecimal. */
export type RowMatches = { readonly rows: readonly string[] } | { readonly hex: string };

/** Larger stores are not looked up: their bitmaps would not fit into a statement. */
const MAX_ROWS = 64 << 20;

/**
 * Conditions known to select more rows than asked about: later searches need not count again. New events keep that true. After events
 * are removed it may be outdated, which costs a scan but no match. Keyed by catalog: a store with other content has another one.
 */
const frequentByCatalog = new WeakMap<FieldCatalog, Set<string>>();
const MAX_FREQUENT = 1_000;
const MAX_KEY_LENGTH = 500;

export class SegmentIndex {
  /** Rows below it are indexed or removed. */
  readonly #end: number;
  /** Whether later rows exist, which only a scan of their text can find. */
  readonly hasUnindexed: boolean;
  readonly #store: SearchContext["store"];

  constructor(store: SearchContext["store"], end: number, hasMore: boolean) {
    this.#store = store;
    this.#end = end;
    this.hasUnindexed = hasMore;
  }

  /** @returns `undefined` when the store has no index or an empty one */
  static open({ store }: SearchContext): SegmentIndex | undefined {
    const { fields, segmentedRows, nextRow } = store;
    if (fields.textIndex !== "raw" || segmentedRows === 0 || segmentedRows > MAX_ROWS) return undefined;
    return new SegmentIndex(store, segmentedRows, segmentedRows < nextRow);
  }

  /** Evaluates sets: those of few rows in one statement, the others in a second. */
  async lookUp(sets: readonly RowSet[]): Promise<RowMatches[]> {
    const few = await this.#few(sets);
    const many = sets.filter((set) => !few.has(set));
    const bits = await this.#many(many);
    return sets.map((set) => few.get(set) ?? bits[many.indexOf(set)] ?? { rows: [] });
  }

  async #many(sets: readonly RowSet[]): Promise<RowMatches[]> {
    if (sets.length === 0) return [];
    const texts = sets.map((set) => sql`hex(CAST(${this.#bits(set)} AS BLOB))`);
    const { rows } = await this.#store.query(sql`SELECT ${joined(texts, ", ")}`);
    return (rows[0] ?? []).map((text) => {
      const hex = typeof text === "string" ? text : "";
      const numbers = rowsInBits(hex);
      return numbers === undefined ? { hex } : { rows: numbers };
    });
  }

  /** Evaluates sets of few rows, without the bitmaps that would take several times as long. */
  async #few(sets: readonly RowSet[]): Promise<ReadonlyMap<RowSet, RowMatches>> {
    const asked = sets.flatMap((set) => {
      const condition = segmentCondition(set);
      // A list of many words usually matches many rows.
      const isMany = set.kind === "words" && set.words.length > MAX_LISTED_ROWS;
      if (condition === undefined || isMany || this.#isFrequent(condition, MAX_LISTED_ROWS)) return [];
      return [{ set, condition }];
    });
    const found = new Map<RowSet, RowMatches>();
    if (asked.length === 0) return found;
    const [maxRows, limit, end] = [
      raw(String(MAX_LISTED_ROWS)),
      raw(String(MAX_LISTED_ROWS + 1)),
      raw(String(this.#end)),
    ];
    const lists = asked.map(
      ({ condition }) =>
        sql`(SELECT CASE WHEN count(*) <= ${maxRows} THEN coalesce(string_agg(CAST(_row AS VARCHAR), ','), '') END
          FROM (SELECT _row FROM segments WHERE ${condition} AND _row < ${end} LIMIT ${limit}))`,
    );
    const { rows } = await this.#store.query(sql`SELECT ${joined(lists, ", ")}`);
    for (const [number, { set, condition }] of asked.entries()) {
      const list = rows[0]?.[number];
      if (typeof list !== "string") this.#rememberFrequent(condition, MAX_LISTED_ROWS);
      else found.set(set, { rows: list === "" ? [] : list.split(",") });
    }
    return found;
  }

  /** Returns the sets of at most `most` rows. */
  async findRare(sets: readonly RowSet[], maxRows: number): Promise<RowSet[]> {
    const conditions = sets.map(segmentCondition);
    const counts = conditions.flatMap((condition, number) => {
      if (condition === undefined || this.#isFrequent(condition, maxRows)) return [];
      const limit = raw(String(maxRows + 1));
      return sql`SELECT ${raw(String(number))} AS number, count(*) AS found FROM (SELECT _row FROM segments WHERE ${condition} LIMIT ${limit})`;
    });
    if (counts.length === 0) return [];
    const { rows } = await this.#store.query(joined(counts, " UNION ALL "));
    return rows.flatMap(([number, found]) => {
      const condition = conditions[Number(number)];
      if (Number(found) <= maxRows) return sets[Number(number)] ?? [];
      if (condition !== undefined) this.#rememberFrequent(condition, maxRows);
      return [];
    });
  }

  /**
   * Condition: whether a row is in a set.
   * @param row column with the row number
   * @param unindexed condition for rows that are not in the index yet
   */
  contains(found: RowMatches, row: Sql, unindexed: Sql): Sql {
    if ("rows" in found) return this.orUnindexed(rowIn(row, found.rows), row, unindexed);
    const { hex } = found;
    // get_bit fails beyond the last bit.
    const isSet = sql`CASE WHEN ${row} < ${raw(String(this.#end))} THEN get_bit(CAST(unhex(${hex}) AS BIT), CAST(${row} AS INTEGER)) = 1 ELSE false END`;
    const [first, last] = bitBounds(hex);
    return this.orUnindexed(
      sql`(${row} BETWEEN ${raw(String(first))} AND ${raw(String(last))} AND ${isSet})`,
      row,
      unindexed,
    );
  }

  #isFrequent(condition: Sql, maxRows: number): boolean {
    return frequentByCatalog.get(this.#store.fields)?.has(keyOf(condition, maxRows)) ?? false;
  }

  #rememberFrequent(condition: Sql, maxRows: number): void {
    const key = keyOf(condition, maxRows);
    const keys = frequentByCatalog.get(this.#store.fields) ?? new Set();
    if (keys.size >= MAX_FREQUENT) keys.clear();
    if (key.length <= MAX_KEY_LENGTH) keys.add(key);
    frequentByCatalog.set(this.#store.fields, keys);
  }

  /** Upper bound of the rows in a set; `undefined` when there may be many. */
  maxRows(found: RowMatches): number | undefined {
    return "rows" in found && !this.hasUnindexed ? found.rows.length : undefined;
  }

  /** Combines a condition for indexed rows with one for the others. */
  orUnindexed(known: Sql, row: Sql, unindexed: Sql): Sql {
    if (!this.hasUnindexed) return known;
    return sql`CASE WHEN ${row} < ${raw(String(this.#end))} THEN ${known} ELSE ${unindexed} END`;
  }

  /** The bitmap of a set; NULL may stand for the empty set. */
  #bits(set: RowSet): Sql {
    switch (set.kind) {
      case "and":
        return sql`(${joined(
          set.sets.map((one) => this.#bits(one)),
          " & ",
        )})`;
      case "or":
        return sql`(${joined(
          set.sets.map((one) => this.#allBits(one)),
          " | ",
        )})`;
      case "not":
        return sql`(~${this.#allBits(set.set)})`;
      default: {
        const [last, end] = [raw(String(this.#length - 1)), raw(String(this.#end))];
        return sql`(SELECT bitstring_agg(_row, 0, ${last}) FROM segments WHERE ${segmentCondition(set) ?? raw("false")} AND _row < ${end})`;
      }
    }
  }

  /** As `#bits`, but never NULL. Only where needed: building an empty bitmap takes longer than looking up a word. */
  #allBits(set: RowSet): Sql {
    return sql`coalesce(${this.#bits(set)}, bitstring('0', ${raw(String(this.#length))}))`;
  }

  /** Bits in whole bytes, so that no padding shifts them. */
  get #length(): number {
    return Math.ceil(this.#end / 8) * 8;
  }
}

function keyOf({ text, values }: Sql, maxRows: number): string {
  return `${maxRows} ${text} ${JSON.stringify(values.map(String))}`;
}

/** Condition on the index's table for a plain set; `undefined` for a combined one. */
function segmentCondition(set: RowSet): Sql | undefined {
  switch (set.kind) {
    case "words": {
      const words = set.words.map((word) => sql`lower(${word})`);
      return sql`term IN (${joined(words, ", ")})${raw(set.inText ? " AND in_text" : "")}`;
    }
    case "segments":
      return sql`in_text AND ${set.condition}`;
    default:
      return undefined;
  }
}

/** Sets of at most so many rows are listed by number. */
const MAX_LISTED_ROWS = 32;

/** The row numbers in a bitmap, as SQL literals; `undefined` when there are many. */
function rowsInBits(hex: string): string[] | undefined {
  const numbers: string[] = [];
  for (const { 0: digit, index } of hex.matchAll(/[^0]/g)) {
    const bits = Number.parseInt(digit, 16);
    for (let bit = 0; bit < 4; bit++) if ((bits >> (3 - bit)) & 1) numbers.push(String(index * 4 + bit));
    if (numbers.length > MAX_LISTED_ROWS) return undefined;
  }
  return numbers;
}

/** Bounds of the rows in a bitmap, to the nearest hexadecimal digit. */
function bitBounds(hex: string): [first: number, last: number] {
  let last = hex.length - 1;
  while (last > 0 && hex.charCodeAt(last) === 48) last--;
  return [Math.max(0, hex.search(/[^0]/)) * 4, last * 4 + 3];
}
