/**
 * All rows of a search in slices, however many there are. What tells them from one another and in which order they come is found once
 * and held beside the store; the rows of a slice are made when the slice is wanted. So every row comes once and in its order, of the
 * events that were there when the search began: what is written meanwhile is not among them. An event that is removed, or replaced by
 * another, before its slice is made does not come any more.
 */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
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
import { isAmong } from "../spl/search/row-numbers.ts";

export interface Slice extends Rows {
  /** Number of the first row among all. */
  readonly from: number;
  /** Whether others come behind it. */
  readonly goesOn: boolean;
}

/** Which rows are wanted. */
export interface SlicedPart {
  /** Rows that there are at most; may be infinite. */
  readonly most: number;
  /** Below 0: counted from the end. */
  readonly offset: number;
  /** May be infinite. */
  readonly count: number;
  /** Of the first slice. */
  readonly firstRows: number;
}

/** Rows that are made at once when nothing has to be held for it. */
const FEW = 10_000;
/** What the values of a slice are together, about, and its rows at most. */
const SLICE_CHARACTERS = 8_000_000;
const MOST_AT_ONCE = 20_000;
/** What counts for a value that is no text. */
const VALUE_CHARACTERS = 16;

/** @param now makes a context for what is run next: who reads slowly does not use up the time of the statements */
export function slicesOf(
  relation: Relation,
  part: SlicedPart,
  now: () => SearchContext,
): AsyncGenerator<Slice> {
  const deferred = deferredOf(relation);
  const isOfEvents = deferred !== undefined && isLarge(relation, FEW);
  return isOfEvents ? slicesOfEvents(relation, deferred, part, now) : slicesOfOthers(relation, part, now);
}

/** Of very many events: which they are is held, and the first of them are not kept waiting for that. */
async function* slicesOfEvents(
  relation: Relation,
  deferred: DeferredColumns,
  part: SlicedPart,
  now: () => SearchContext,
): AsyncGenerator<Slice> {
  const { offset, firstRows } = part;
  const end = endOf(part);
  if (offset !== 0) {
    const held = await now().hold(heldEvents(relation, deferred, raw("true"), end));
    yield* heldSlices(relation, held, (which) => shownEvents(deferred, held, which), part, 0, now);
    return;
  }
  const most = Math.min(end, firstRows);
  const first = await now().run(withRowNumber(relation), most < end ? most + 1 : most);
  const rows = first.rows.slice(0, most);
  const numbers = rows.map((row) => String(row.at(-1)));
  const shown = rows.map((row) => row.slice(0, -1));
  const goesOn = first.rows.length > most;
  yield { fields: relation.columns, rows: shown, from: 0, goesOn };
  if (!goesOn) return;
  const others = sql`NOT ${isAmong(identifier(ROW), numbers)}`;
  const held = await now().hold(heldEvents(relation, deferred, others, end - most));
  const rest = { ...part, offset: 0, count: end - most };
  yield* heldSlices(relation, held, (which) => shownEvents(deferred, held, which), rest, most, now, shown);
}

/** Of anything else: few are found at once, many are held as they are. */
async function* slicesOfOthers(
  relation: Relation,
  part: SlicedPart,
  now: () => SearchContext,
): AsyncGenerator<Slice> {
  const end = endOf(part);
  const few = await now().run(relation, Math.min(end, FEW + 1));
  if (few.rows.length <= FEW) {
    yield partOf(few, part);
    return;
  }
  const held = await now().hold(heldRows(relation, end));
  yield* heldSlices(relation, held, (which) => shownRows(relation, held, which), part, 0, now, few.rows);
}

/** What is wanted of all rows. */
export function partOf(all: Rows, part: SlicedPart): Slice {
  const total = Math.min(all.rows.length, part.most);
  const from = firstOf(part, total);
  return { ...all, rows: all.rows.slice(from, Math.min(total, from + part.count)), from, goesOn: false };
}

/** The first row that is not wanted, when that is known without the number of rows. */
function endOf({ most, offset, count }: SlicedPart): number {
  return offset < 0 ? most : Math.min(most, offset + count);
}

function firstOf({ offset }: SlicedPart, total: number): number {
  return offset < 0 ? Math.max(0, total + offset) : offset;
}

/** @param select of the rows that a condition on `#order0` finds @param before rows that went before @param like rows that are as large */
async function* heldSlices(
  relation: Relation,
  held: ResultCursor,
  select: (which: Sql) => Sql,
  part: SlicedPart,
  before: number,
  now: () => SearchContext,
  like: readonly ResultValue[][] = [],
): AsyncGenerator<Slice> {
  try {
    let from = firstOf(part, held.count);
    const to = Math.min(held.count, from + part.count);
    let size = sizeAfter(like);
    do {
      const next = Math.min(to, from + size);
      const which = sql`WHERE "#order0" >= CAST(${from} AS BIGINT) AND "#order0" < CAST(${next} AS BIGINT)`;
      const { columns, kind } = relation;
      const slice: Relation = { columns, kind, select: select(which), order: numberOrder };
      const { fields, rows } = await now().runHeld(held, slice, size);
      yield { fields, rows, from: before + from, goesOn: next < to };
      size = sizeAfter(rows);
      from = next;
    } while (from < to);
  } finally {
    await held.drop();
  }
}

const numberOrder = [{ column: "#order0", direction: "ASC" }] as const;

/** How many rows are made next, after rows like these. */
function sizeAfter(rows: readonly ResultValue[][]): number {
  if (rows.length === 0) return 1_000;
  let characters = 1;
  for (const row of rows) for (const value of row) characters += charactersOf(value);
  return Math.max(1, Math.min(MOST_AT_ONCE, Math.floor((rows.length * SLICE_CHARACTERS) / characters)));
}

function charactersOf(value: ResultValue): number {
  if (typeof value === "string") return VALUE_CHARACTERS + value.length;
  if (!Array.isArray(value)) return VALUE_CHARACTERS;
  return value.reduce((sum: number, one) => sum + charactersOf(one), VALUE_CHARACTERS);
}

/** Events with their numbers in the store behind their fields. */
function withRowNumber(relation: Relation): Relation {
  const number = { type: "number", multi: false, sql: identifier(ROW) } as const;
  return project(relation, [...outputsOf(relation), { name: "#row", value: number }]);
}

/** What has to be known of events to make their rows. */
function heldEvents(relation: Relation, deferred: DeferredColumns, which: Sql, most: number): Sql {
  const columns = joined(
    passthroughItems(deferred).map(({ value }) => value),
    ", ",
  );
  return sql`SELECT ${columns} FROM (${deferred.of}) AS r WHERE ${which} ${firstRows(relation, most)}`;
}

function shownEvents(deferred: DeferredColumns, { from }: ResultCursor, which: Sql): Sql {
  const found = sql`SELECT *, rowid AS "#order0" FROM ${from}`;
  return fetchRows({ ...deferred, of: found }, [identifier("#order0")], which);
}

/** The rows as they are. Their columns have other names there: one may be called as a number of a row. */
function heldRows({ columns, select, ...relation }: Relation, most: number): Sql {
  const items = columns.map(({ column }, index) => sql`${identifier(column)} AS ${heldName(index)}`);
  const all = items.length === 0 ? raw("0 AS c") : joined(items, ", ");
  return sql`SELECT ${all} FROM (${select}) AS r ${firstRows(relation, most)}`;
}

function shownRows({ columns }: { columns: readonly Column[] }, { from }: ResultCursor, which: Sql): Sql {
  const items = columns.map(({ column }, index) => ({ column, value: heldName(index) }));
  const numbered = sql`SELECT *, rowid AS "#order0" FROM ${from}`;
  return sql`SELECT ${columnsIfRead(items, [identifier("#order0")])} FROM (${numbered}) AS r ${which}`;
}

const heldName = (index: number) => identifier(`c${index}`);

function firstRows({ order }: Pick<Relation, "order">, most: number): Sql {
  const limit = Number.isFinite(most) ? sql`LIMIT CAST(${most} AS BIGINT)` : raw("");
  return sql`${orderByClause(order)} ${limit}`;
}
