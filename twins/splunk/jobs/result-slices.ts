/**
 * Reads all rows of a search in slices, however many there are. A result cursor holds the keys and the order of the rows beside the
 * store; each slice fetches its rows on demand. So every row comes once and in order, from the events that existed when the search
 * began. An event that is removed or replaced before its slice is fetched is left out.
 */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultCursor, ResultValue } from "@offhook/log-store/store/log-store";
import type { SearchContext } from "../spl/context/search-context.ts";
import {
  type DeferredColumns,
  deferredOf,
  fetchRows,
  passthroughItems,
  ROW,
} from "../spl/relation/deferred-columns.ts";
import { isLarge } from "../spl/relation/order.ts";
import { orderByClause } from "../spl/relation/order-keys.ts";
import { type Column, outputsOf, project, type Relation } from "../spl/relation/relation.ts";
import type { Rows } from "../spl/relation/rows.ts";
import { rowIn } from "../spl/search/row-numbers.ts";

export interface Slice extends Rows {
  /** Index of the first row among all. */
  readonly from: number;
  /** Whether another slice follows. */
  readonly hasMore: boolean;
}

/** The rows to read. */
export interface SliceRange {
  /** Maximum of rows of the result; may be infinite. */
  readonly maxRows: number;
  /** Below 0: counted from the end. */
  readonly offset: number;
  /** May be infinite. */
  readonly count: number;
  /** Number of rows in the first slice. */
  readonly firstRows: number;
}

/** A result of up to so many rows is fetched at once, without a cursor. */
const MAX_UNHELD_ROWS = 10_000;
/** Approximate size of the values in a slice, and its maximum of rows. */
const SLICE_CHARACTERS = 8_000_000;
const MAX_SLICE_ROWS = 20_000;
/** Assumed size of a value that is not text. */
const VALUE_CHARACTERS = 16;

/** @param newContext makes a context for the next statement, so that a slow reader does not use up the statements' time limit */
export function sliceRows(
  relation: Relation,
  range: SliceRange,
  newContext: () => SearchContext,
): AsyncGenerator<Slice> {
  const deferred = deferredOf(relation);
  if (deferred !== undefined && isLarge(relation, MAX_UNHELD_ROWS)) {
    return sliceEvents(relation, deferred, range, newContext);
  }
  return sliceOtherRows(relation, range, newContext);
}

/** Slices very many events: a cursor holds their keys, and the first slice comes before the cursor is ready. */
async function* sliceEvents(
  relation: Relation,
  deferred: DeferredColumns,
  range: SliceRange,
  newContext: () => SearchContext,
): AsyncGenerator<Slice> {
  const { offset, firstRows } = range;
  const end = endOf(range);
  if (offset !== 0) {
    const cursor = await newContext().openCursor(selectEventKeys(relation, deferred, raw("true"), end));
    yield* readCursor(
      relation,
      cursor,
      (which) => fetchEvents(deferred, cursor, which),
      range,
      0,
      newContext,
    );
    return;
  }
  const size = Math.min(end, firstRows);
  const first = await newContext().run(withRowNumber(relation), size < end ? size + 1 : size);
  const rows = first.rows.slice(0, size);
  const numbers = rows.map((row) => String(row.at(-1)));
  const shown = rows.map((row) => row.slice(0, -1));
  const hasMore = first.rows.length > size;
  yield { fields: relation.columns, rows: shown, from: 0, hasMore };
  if (!hasMore) return;
  const others = sql`NOT ${rowIn(identifier(ROW), numbers)}`;
  const cursor = await newContext().openCursor(selectEventKeys(relation, deferred, others, end - size));
  const rest = { ...range, offset: 0, count: end - size };
  yield* readCursor(
    relation,
    cursor,
    (which) => fetchEvents(deferred, cursor, which),
    rest,
    size,
    newContext,
    shown,
  );
}

/** Slices any other rows: few are fetched at once, many are held by a cursor. */
async function* sliceOtherRows(
  relation: Relation,
  range: SliceRange,
  newContext: () => SearchContext,
): AsyncGenerator<Slice> {
  const end = endOf(range);
  const few = await newContext().run(relation, Math.min(end, MAX_UNHELD_ROWS + 1));
  if (few.rows.length <= MAX_UNHELD_ROWS) {
    yield slicePart(few, range);
    return;
  }
  const cursor = await newContext().openCursor(selectRows(relation, end));
  yield* readCursor(
    relation,
    cursor,
    (which) => fetchHeldRows(relation, cursor, which),
    range,
    0,
    newContext,
    few.rows,
  );
}

/** Cuts the range out of rows that are all there. */
export function slicePart(all: Rows, range: SliceRange): Slice {
  const total = Math.min(all.rows.length, range.maxRows);
  const from = firstOf(range, total);
  return { ...all, rows: all.rows.slice(from, Math.min(total, from + range.count)), from, hasMore: false };
}

/** End of the range, exclusive, as far as it is known without the number of rows. */
function endOf({ maxRows, offset, count }: SliceRange): number {
  return offset < 0 ? maxRows : Math.min(maxRows, offset + count);
}

function firstOf({ offset }: SliceRange, total: number): number {
  return offset < 0 ? Math.max(0, total + offset) : offset;
}

/**
 * Reads the rows of a cursor.
 * @param select fetches the rows that a condition on `#order0` finds
 * @param before number of rows already sent
 * @param sample rows of typical size
 */
async function* readCursor(
  relation: Relation,
  cursor: ResultCursor,
  select: (which: Sql) => Sql,
  range: SliceRange,
  before: number,
  newContext: () => SearchContext,
  sample: readonly ResultValue[][] = [],
): AsyncGenerator<Slice> {
  try {
    let from = firstOf(range, cursor.count);
    const to = Math.min(cursor.count, from + range.count);
    let size = nextSize(sample);
    do {
      const next = Math.min(to, from + size);
      const which = sql`WHERE "#order0" >= CAST(${from} AS BIGINT) AND "#order0" < CAST(${next} AS BIGINT)`;
      const { columns, kind } = relation;
      const slice: Relation = { columns, kind, select: select(which), order: numberOrder };
      const { fields, rows } = await newContext().runOn(cursor, slice, size);
      yield { fields, rows, from: before + from, hasMore: next < to };
      size = nextSize(rows);
      from = next;
    } while (from < to);
  } finally {
    await cursor.drop();
  }
}

const numberOrder = [{ column: "#order0", direction: "ASC" }] as const;

/** Size of the next slice, by the size of these rows. */
function nextSize(rows: readonly ResultValue[][]): number {
  if (rows.length === 0) return 1_000;
  let characters = 1;
  for (const row of rows) for (const value of row) characters += charactersOf(value);
  return Math.max(1, Math.min(MAX_SLICE_ROWS, Math.floor((rows.length * SLICE_CHARACTERS) / characters)));
}

function charactersOf(value: ResultValue): number {
  if (typeof value === "string") return VALUE_CHARACTERS + value.length;
  if (!Array.isArray(value)) return VALUE_CHARACTERS;
  return value.reduce((sum: number, one) => sum + charactersOf(one), VALUE_CHARACTERS);
}

/** Appends the number of each event in the store to its fields. */
function withRowNumber(relation: Relation): Relation {
  const number = { type: "number", multi: false, sql: identifier(ROW) } as const;
  return project(relation, [...outputsOf(relation), { name: "#row", value: number }]);
}

/** Selects the keys that fetch the events later: late materialization. */
function selectEventKeys(relation: Relation, deferred: DeferredColumns, which: Sql, maxRows: number): Sql {
  const columns = joined(
    passthroughItems(deferred).map(({ value }) => value),
    ", ",
  );
  return sql`SELECT ${columns} FROM (${deferred.of}) AS r WHERE ${which} ${orderAndLimit(relation, maxRows)}`;
}

function fetchEvents(deferred: DeferredColumns, { from }: ResultCursor, which: Sql): Sql {
  const found = sql`SELECT *, rowid AS "#order0" FROM ${from}`;
  return fetchRows({ ...deferred, of: found }, [identifier("#order0")], which);
}

/** Selects whole rows to hold. Their columns are renamed, since one may have the name of a row number. */
function selectRows({ columns, select, ...relation }: Relation, maxRows: number): Sql {
  const items = columns.map(({ column }, index) => sql`${identifier(column)} AS ${columnName(index)}`);
  const all = items.length === 0 ? raw("0 AS c") : joined(items, ", ");
  return sql`SELECT ${all} FROM (${select}) AS r ${orderAndLimit(relation, maxRows)}`;
}

function fetchHeldRows({ columns }: { columns: readonly Column[] }, { from }: ResultCursor, which: Sql): Sql {
  const items = columns.map(({ column }, index) => ({ column, value: columnName(index) }));
  const numbered = sql`SELECT *, rowid AS "#order0" FROM ${from}`;
  return sql`SELECT ${prunableColumns(items, [identifier("#order0")])} FROM (${numbered}) AS r ${which}`;
}

const columnName = (index: number) => identifier(`c${index}`);

function orderAndLimit({ order }: Pick<Relation, "order">, maxRows: number): Sql {
  const limit = Number.isFinite(maxRows) ? sql`LIMIT CAST(${maxRows} AS BIGINT)` : raw("");
  return sql`${orderByClause(order)} ${limit}`;
}
