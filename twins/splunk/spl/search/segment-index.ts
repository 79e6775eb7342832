/**
 * The index of the events' segments: which rows have a segment is answered as a row of bits, one for each event. Such sets are put
 * together in the database, and looked at for each event before anything else of it is read.
 */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { isFrequent, rememberFrequent } from "./frequent-segments.ts";
import { isAmong } from "./row-numbers.ts";

/** Rows of the index's table. */
export type RowSet =
  /** Those with one of these segments. @param inText whether it must be in the event's text, or may be in its JSON */
  | { readonly kind: "words"; readonly words: readonly string[]; readonly inText: boolean }
  /** Those with a segment of their text that is so. @param condition on `term` */
  | { readonly kind: "segments"; readonly condition: Sql }
  | { readonly kind: "and" | "or"; readonly sets: readonly RowSet[] }
  | { readonly kind: "not"; readonly set: RowSet };

/** A set, as it goes into a statement: few rows by their numbers, or a bit for each row, two digits for each eight. */
export type Found = { readonly rows: readonly string[] } | { readonly hex: string };

/** More rows than these are not looked up: their bits would not fit into a statement. */
const MOST_ROWS = 64 << 20;

export class SegmentIndex {
  /** Rows below it have their segments in the index, or are no more. */
  readonly #end: number;
  /** Whether there may be rows behind it that are found by their text alone. */
  readonly hasMore: boolean;
  readonly #store: SearchContext["store"];

  constructor(store: SearchContext["store"], end: number, hasMore: boolean) {
    this.#store = store;
    this.#end = end;
    this.hasMore = hasMore;
  }

  /** `undefined` when the store has none, or nothing is in it. */
  static of({ store }: SearchContext): SegmentIndex | undefined {
    const { fields, segmentedRows, nextRow } = store;
    if (fields.textIndex !== "raw" || segmentedRows === 0 || segmentedRows > MOST_ROWS) return undefined;
    return new SegmentIndex(store, segmentedRows, segmentedRows < nextRow);
  }

  /** Looks sets up: those of few rows in one statement, the others in one more. */
  async look(sets: readonly RowSet[]): Promise<Found[]> {
    const few = await this.#few(sets);
    const many = sets.filter((set) => !few.has(set));
    const bits = await this.#many(many);
    return sets.map((set) => few.get(set) ?? bits[many.indexOf(set)] ?? { rows: [] });
  }

  async #many(sets: readonly RowSet[]): Promise<Found[]> {
    if (sets.length === 0) return [];
    const texts = sets.map((set) => sql`hex(CAST(${this.#bits(set)} AS BLOB))`);
    const { rows } = await this.#store.query(sql`SELECT ${joined(texts, ", ")}`);
    return (rows[0] ?? []).map((text) => {
      const hex = typeof text === "string" ? text : "";
      const numbers = numbersIn(hex);
      return numbers === undefined ? { hex } : { rows: numbers };
    });
  }

  /** Those that are a part of the table, of few rows: to make bits of them takes several times as long. */
  async #few(sets: readonly RowSet[]): Promise<ReadonlyMap<RowSet, Found>> {
    const { fields } = this.#store;
    const asked = sets.flatMap((set) => {
      const condition = segmentsOf(set);
      // Each of many words is in an event, as a rule.
      const isMany = set.kind === "words" && set.words.length > FEW;
      if (condition === undefined || isMany || isFrequent(fields, condition, FEW)) return [];
      return [{ set, condition }];
    });
    const found = new Map<RowSet, Found>();
    if (asked.length === 0) return found;
    const [most, limit, end] = [raw(String(FEW)), raw(String(FEW + 1)), raw(String(this.#end))];
    const lists = asked.map(
      ({ condition }) =>
        sql`(SELECT CASE WHEN count(*) <= ${most} THEN coalesce(string_agg(CAST(_row AS VARCHAR), ','), '') END
          FROM (SELECT _row FROM segments WHERE ${condition} AND _row < ${end} LIMIT ${limit}))`,
    );
    const { rows } = await this.#store.query(sql`SELECT ${joined(lists, ", ")}`);
    for (const [number, { set, condition }] of asked.entries()) {
      const list = rows[0]?.[number];
      if (typeof list !== "string") rememberFrequent(fields, condition, FEW);
      else found.set(set, { rows: list === "" ? [] : list.split(",") });
    }
    return found;
  }

  /** Which of the sets have no more rows than so many. */
  async rare(sets: readonly RowSet[], most: number): Promise<RowSet[]> {
    const { fields } = this.#store;
    const conditions = sets.map(segmentsOf);
    const counts = conditions.flatMap((condition, number) => {
      if (condition === undefined || isFrequent(fields, condition, most)) return [];
      const limit = raw(String(most + 1));
      return sql`SELECT ${raw(String(number))} AS number, count(*) AS found FROM (SELECT _row FROM segments WHERE ${condition} LIMIT ${limit})`;
    });
    if (counts.length === 0) return [];
    const { rows } = await this.#store.query(joined(counts, " UNION ALL "));
    return rows.flatMap(([number, found]) => {
      const condition = conditions[Number(number)];
      if (Number(found) <= most) return sets[Number(number)] ?? [];
      if (condition !== undefined) rememberFrequent(fields, condition, most);
      return [];
    });
  }

  /**
   * Whether a row is in a set.
   * @param row a column with the row's number
   * @param elsewise whether a row is found that the index does not know yet
   */
  has(found: Found, row: Sql, elsewise: Sql): Sql {
    if ("rows" in found) return this.orElse(isAmong(row, found.rows), row, elsewise);
    const { hex } = found;
    // Beyond the last bit there is none to be asked for.
    const isSet = sql`CASE WHEN ${row} < ${raw(String(this.#end))} THEN get_bit(CAST(unhex(${hex}) AS BIT), CAST(${row} AS INTEGER)) = 1 ELSE false END`;
    const [first, last] = boundsOf(hex);
    return this.orElse(
      sql`(${row} BETWEEN ${raw(String(first))} AND ${raw(String(last))} AND ${isSet})`,
      row,
      elsewise,
    );
  }

  /** How many rows are in a set, or may be; `undefined` when there may be very many. */
  atMost(found: Found): number | undefined {
    return "rows" in found && !this.hasMore ? found.rows.length : undefined;
  }

  /** What is true of the rows that the index knows, and of the others. */
  orElse(known: Sql, row: Sql, elsewise: Sql): Sql {
    if (!this.hasMore) return known;
    return sql`CASE WHEN ${row} < ${raw(String(this.#end))} THEN ${known} ELSE ${elsewise} END`;
  }

  /** The bits of a set; NULL may stand for none. */
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
        return sql`(SELECT bitstring_agg(_row, 0, ${last}) FROM segments WHERE ${segmentsOf(set) ?? raw("false")} AND _row < ${end})`;
      }
    }
  }

  /** Never NULL; to make bits of nothing takes longer than to look up a word. */
  #allBits(set: RowSet): Sql {
    return sql`coalesce(${this.#bits(set)}, bitstring('0', ${raw(String(this.#length))}))`;
  }

  /** A whole number of bytes, so that none of them is filled up. */
  get #length(): number {
    return Math.ceil(this.#end / 8) * 8;
  }
}

/** The rows of the index's table that make up a set; `undefined` when it is made of others. */
function segmentsOf(set: RowSet): Sql | undefined {
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

/** So few rows are known by their numbers. */
const FEW = 32;

/** The rows of a set as SQL writes them; `undefined` when there are many. */
function numbersIn(hex: string): string[] | undefined {
  const numbers: string[] = [];
  for (const { 0: digit, index } of hex.matchAll(/[^0]/g)) {
    const bits = Number.parseInt(digit, 16);
    for (let bit = 0; bit < 4; bit++) if ((bits >> (3 - bit)) & 1) numbers.push(String(index * 4 + bit));
    if (numbers.length > FEW) return undefined;
  }
  return numbers;
}

/** The first row of a set and the last, or rows close before and behind them. */
function boundsOf(hex: string): [first: number, last: number] {
  let last = hex.length - 1;
  while (last > 0 && hex.charCodeAt(last) === 48) last--;
  return [Math.max(0, hex.search(/[^0]/)) * 4, last * 4 + 3];
}
