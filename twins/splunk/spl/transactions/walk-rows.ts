/** Assigns rows to transactions in the program, for cases that SQL cannot express. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { SearchContext } from "../context/search-context.ts";
import { countOf } from "../context/subsearch-limit.ts";
import { ROW } from "../relation/deferred-columns.ts";
import type { Relation } from "../relation/relation.ts";
import type { Rows } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { isEnd, isStart, type KeyedRows, keyName, newestFirst, time } from "./keyed-rows.ts";
import type { TransactionOptions } from "./options.ts";
import { type Marks, rank } from "./segments.ts";
import { type Ending, type WalkedRow, walk } from "./walk.ts";

/** Rows that are fetched into memory. */
const MAX_ROWS = 500_000;
/** Defaults of `limits.conf`. */
const MAX_OPEN_TRANSACTIONS = 5_000;
const MAX_OPEN_EVENTS = 100_000;

/** Whether any row lacks some of the key fields. */
export async function hasPartialKeys(
  { select, narrow, keys, input, everyRowHasKey: oneIsThere }: KeyedRows,
  context: SearchContext,
): Promise<boolean> {
  if (keys.length === 0 || (keys.length === 1 && oneIsThere)) return false;
  const missing = joined(
    keys.map((_, index) => sql`${keyName(index)} IS NULL`),
    " OR ",
  );
  const some = sql`SELECT 1 FROM (${narrow ?? select}) AS k WHERE ${missing} LIMIT 1`;
  return (await countOf({ ...input, select: some }, context)) > 0;
}

const closedValues: Readonly<Record<Ending, number>> = { closed: 1, open: 0, evicted: -1 };

export async function walkRows(
  rows: KeyedRows,
  options: TransactionOptions,
  context: SearchContext,
): Promise<Marks> {
  const found = await context.run(walkInput(rows), MAX_ROWS + 1);
  if (found.rows.length > MAX_ROWS) {
    throw commandError(
      "transaction",
      `Some events lack some of the fields. There may be ${MAX_ROWS} events then; narrow the search.`,
      "run",
    );
  }
  const { maxOpenTransactions = MAX_OPEN_TRANSACTIONS, maxOpenEvents = MAX_OPEN_EVENTS } = options;
  const limits = { ...options, maxOpenTransactions, maxOpenEvents };
  const walked = await walk(readRows(found), rows.keys.length, limits, context.throwIfOver);
  const transactions = walked.transactions.map((number) => [
    number,
    closedValues[walked.endings[number] ?? "open"],
  ]);
  const places = found.rows.map(([place = null]) => place);
  return {
    groups: [identifier("#transaction")],
    closed: raw('any_value("#ending")'),
    on(select) {
      const placed = rows.narrow === undefined ? withPosition(rows, select) : select;
      return sql`SELECT s.*, ${rank}, "#transaction", "#ending" FROM (${placed}) AS s JOIN (${markRows(places, transactions)}) AS p ON s.${placeColumn(rows)} = p."#place"`;
    },
  };
}

/** The column that identifies a row: its number in the store, or its position. */
function placeColumn({ narrow }: KeyedRows): Sql {
  return identifier(narrow === undefined ? "#position" : ROW);
}

function withPosition(rows: KeyedRows, select: Sql): Sql {
  return sql`SELECT *, row_number() OVER (ORDER BY ${newestFirst(rows)}) AS "#position" FROM (${select}) AS k`;
}

/** One row for each element of the lists; `#rank` is its position. */
function markRows(places: readonly ResultValue[], transactions: readonly (readonly number[])[]): Sql {
  const list = (values: readonly ResultValue[]) => sql`from_json(${JSON.stringify(values)}, '["BIGINT"]')`;
  const column = (index: number) => list(transactions.map((one) => one[index] ?? 0));
  return sql`SELECT unnest(${list(places)}) AS "#place", unnest(${column(0)}) AS "#transaction", unnest(${column(1)}) AS "#ending", unnest(range(1, CAST(${places.length + 1} AS BIGINT))) AS ${rank}`;
}

/** Each row's place and the values that `walk` reads, in order. */
function walkInput(rows: KeyedRows): Relation {
  const { keys, narrow, select } = rows;
  const items = [
    sql`${placeColumn(rows)} AS "#c0"`,
    sql`${time} AS "#c1"`,
    sql`CASE WHEN ${isStart} THEN 1 ELSE 0 END AS "#c2"`,
    sql`CASE WHEN ${isEnd} THEN 1 ELSE 0 END AS "#c3"`,
    ...keys.map((_, index) => sql`${keyName(index)} AS ${identifier(`#c${index + 4}`)}`),
    sql`row_number() OVER (ORDER BY ${newestFirst(rows)}) AS ${rank}`,
  ];
  const numbers = ["#c0", "#c1", "#c2", "#c3"].map(
    (name) => ({ name, column: name, type: "number", multi: false }) as const,
  );
  const texts = keys.map(({ multi }, index) => {
    const name = `#c${index + 4}`;
    return { name, column: name, type: "text", multi } as const;
  });
  return {
    select: sql`SELECT ${joined(items, ", ")} FROM (${narrow ?? withPosition(rows, select)}) AS w`,
    columns: [...numbers, ...texts],
    order: [{ column: "#rank", direction: "ASC" }],
    kind: "report",
  };
}

function* readRows({ rows }: Rows): Generator<WalkedRow> {
  for (const row of rows) yield readRow(row);
}

function readRow([_, moment, start, end, ...keys]: readonly ResultValue[]): WalkedRow {
  return {
    time: Number(moment),
    isStart: start === 1,
    isEnd: end === 1,
    keys: keys.map((value) =>
      value === null ? [] : Array.isArray(value) ? value.map(String) : [String(value)],
    ),
  };
}
