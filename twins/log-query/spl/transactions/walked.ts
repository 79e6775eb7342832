/** Transactions that need one look at each row, in the program. */
import { identifier, joined, raw, sql } from "../../../datasets/sql.ts";
import type { ResultValue } from "../../../datasets/store/log-store.ts";
import type { Relation } from "../relation.ts";
import { relationOf } from "../rows.ts";
import type { SearchContext } from "../search-context.ts";
import { commandError } from "../spl-error.ts";
import { countOf } from "../subsearch-limit.ts";
import { isEnd, isStart, type KeyedRows, keyName, newestFirst, time } from "./keyed-rows.ts";
import type { TransactionOptions } from "./options.ts";
import { type MarkedRows, rank } from "./segments.ts";
import { type Ending, type WalkedRow, walk } from "./walk.ts";

/** Rows that are looked at in the program. */
const MAX_ROWS = 500_000;
/** As `limits.conf` has them. */
const MAX_OPEN_TRANSACTIONS = 5_000;
const MAX_OPEN_EVENTS = 100_000;

/** Whether a row lacks some of the fields. */
export async function hasPartialKeys(
  { select, keys, input, oneIsThere }: KeyedRows,
  context: SearchContext,
): Promise<boolean> {
  if (keys.length === 0 || (keys.length === 1 && oneIsThere)) return false;
  const missing = joined(
    keys.map((_, index) => sql`${keyName(index)} IS NULL`),
    " OR ",
  );
  const some = sql`SELECT 1 FROM (${select}) AS k WHERE ${missing} LIMIT 1`;
  return (await countOf({ ...input, select: some }, context)) > 0;
}

const endings: Readonly<Record<Ending, number>> = { closed: 1, open: 0, evicted: -1 };

export async function walkedRows(
  rows: KeyedRows,
  options: TransactionOptions,
  context: SearchContext,
): Promise<MarkedRows> {
  const ranked = sql`SELECT *, row_number() OVER (ORDER BY ${newestFirst(rows)}) AS ${rank} FROM (${rows.select}) AS k`;
  const { rows: found } = await context.run(
    walkedColumns(rows, { ...rows.input, select: ranked }),
    MAX_ROWS + 1,
  );
  if (found.length > MAX_ROWS) {
    throw commandError(
      "transaction",
      `Some events lack some of the fields. There may be ${MAX_ROWS} events then; narrow the search.`,
      "run",
    );
  }
  const { maxOpenTransactions = MAX_OPEN_TRANSACTIONS, maxOpenEvents = MAX_OPEN_EVENTS } = options;
  const walked = walk(found.map(walkedRow), rows.keys.length, {
    ...options,
    maxOpenTransactions,
    maxOpenEvents,
  });
  const places = relationOf({
    fields: ["#place", "#transaction", "#ending"].map((name) => ({ name, type: "number", multi: false })),
    rows: walked.transactions.map((number, index) => [
      index + 1,
      number,
      endings[walked.endings[number] ?? "open"],
    ]),
  });
  return {
    select: sql`SELECT s.*, p."#transaction", p."#ending" FROM (${ranked}) AS s JOIN (${places.select}) AS p ON s.${rank} = CAST(p."#place" AS BIGINT)`,
    groups: [identifier("#transaction")],
    closed: raw('any_value("#ending")'),
  };
}

function walkedColumns({ keys }: KeyedRows, ranked: Relation): Relation {
  const items = [
    sql`${time} AS "#c0"`,
    sql`CASE WHEN ${isStart} THEN 1 ELSE 0 END AS "#c1"`,
    sql`CASE WHEN ${isEnd} THEN 1 ELSE 0 END AS "#c2"`,
    ...keys.map((_, index) => sql`${keyName(index)} AS ${identifier(`#c${index + 3}`)}`),
    rank,
  ];
  const columns = [
    ...["#c0", "#c1", "#c2"].map((name) => ({ name, column: name, type: "number", multi: false }) as const),
    ...keys.map(
      ({ multi }, index) =>
        ({ name: `#c${index + 3}`, column: `#c${index + 3}`, type: "text", multi }) as const,
    ),
  ];
  return {
    select: sql`SELECT ${joined(items, ", ")} FROM (${ranked.select}) AS w`,
    columns,
    order: [{ column: "#rank", direction: "ASC" }],
    kind: "report",
  };
}

function walkedRow([moment, start, end, ...keys]: readonly ResultValue[]): WalkedRow {
  return {
    time: Number(moment),
    isStart: start === 1,
    isEnd: end === 1,
    keys: keys.map((value) =>
      value === null ? [] : Array.isArray(value) ? value.map(String) : [String(value)],
    ),
  };
}
