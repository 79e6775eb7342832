/**
 * Assigns rows to transactions in SQL, when each row's keys alone decide. As in splunkd, rows are scanned from newest to oldest: a row
 * that ends a transaction begins a new segment, and so does a row after one that starts a transaction, or after a pause.
 */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import type { SearchContext } from "../context/search-context.ts";
import { countOf } from "../context/subsearch-limit.ts";
import { isEnd, isStart, type KeyedRows, keyName, newestFirst, time } from "./keyed-rows.ts";
import type { TransactionOptions } from "./options.ts";
import { parseNumber } from "./parse-number.ts";

/** Assigns each row to its transaction. */
export interface Marks {
  /** @param select rows of `KeyedRows` @returns their columns, `#rank` (from newest to oldest) and the columns of `groups` */
  on(select: Sql): Sql;
  /** Columns that identify a transaction. */
  groups: readonly Sql[];
  /** Aggregate for `closed_txn`; `undefined`: derive it from the limits. */
  closed: Sql | undefined;
}

export const rank = identifier("#rank");
const segment = identifier("#segment");
const part = identifier("#part");

export async function segmentRows(
  rows: KeyedRows,
  options: TransactionOptions,
  context: SearchContext,
): Promise<Marks> {
  const keys = rows.keys.map((_, index) => keyName(index));
  const by = keys.length === 0 ? raw("") : sql`PARTITION BY ${joined(keys, ", ")}`;
  const order = newestFirst(rows);
  const window = sql`(${by} ORDER BY ${order})`;
  const begins = [
    ...(options.endsWith ? [isEnd] : []),
    ...(options.startsWith ? [sql`lag(${isStart}, 1, false) OVER ${window}`] : []),
    ...pauses(options).map(
      (seconds) => sql`lag(${time}) OVER ${window} - ${time} > CAST(${seconds} AS DOUBLE)`,
    ),
  ];
  const first = begins.length === 0 ? raw("false") : sql`coalesce(${joined(begins, " OR ")}, false)`;
  const withBegins = (select: Sql) =>
    sql`SELECT *, ${first} AS "#begins", row_number() OVER ${window} AS ${rank} FROM (${select}) AS k`;
  const firstRank = sql`coalesce(max(CASE WHEN "#begins" THEN ${rank} END) OVER (${by} ORDER BY ${rank} ROWS UNBOUNDED PRECEDING), 1)`;
  const marks: Marks = {
    on: (select) =>
      sql`SELECT *, ${begins.length === 0 ? raw("1") : firstRank} AS ${segment} FROM (${withBegins(select)}) AS b`,
    groups: [...keys, segment],
    closed: undefined,
  };
  if (options.maxSpan === undefined) return splitByCount(marks, options);
  return (await mayExceed(rows, keys, options, context)) ? splitByLimits(marks, keys, options) : marks;
}

/** Cuts segments into transactions of at most `maxEvents` rows, from the newest on. */
function splitByCount(marks: Marks, { maxEvents }: TransactionOptions): Marks {
  if (maxEvents === undefined) return marks;
  const number = sql`(${rank} - ${segment}) // greatest(CAST(${maxEvents} AS BIGINT), 1) AS ${part}`;
  return {
    ...marks,
    on: (select) => sql`SELECT *, ${number} FROM (${marks.on(select)}) AS s`,
    groups: [...marks.groups, part],
  };
}

/** A pause longer than `maxSpan` splits a segment as well. */
function pauses({ maxPause, maxSpan }: TransactionOptions): number[] {
  const limits = [maxPause, maxSpan].filter((limit) => limit !== undefined);
  return limits.length === 0 ? [] : [Math.min(...limits)];
}

/** Aggregate: whether the rows of a group are too many or too far apart. */
function exceedsLimit({ maxSpan, maxEvents }: TransactionOptions): Sql | undefined {
  const tests = [
    ...(maxSpan === undefined ? [] : [sql`max(${time}) - min(${time}) > CAST(${maxSpan} AS DOUBLE)`]),
    ...(maxEvents === undefined ? [] : [sql`count(*) > CAST(${maxEvents} AS BIGINT)`]),
  ];
  return tests.length === 0 ? undefined : joined(tests, " OR ");
}

/** Whether any segment may exceed a limit: none does if no key's rows do altogether. */
async function mayExceed(
  { select, narrow, input }: KeyedRows,
  keys: readonly Sql[],
  options: TransactionOptions,
  context: SearchContext,
): Promise<boolean> {
  const test = exceedsLimit(options);
  if (test === undefined) return false;
  const by = keys.length === 0 ? raw("") : sql`GROUP BY ${joined(keys, ", ")}`;
  const some = sql`SELECT count(*) FROM (${narrow ?? select}) AS k ${by} HAVING ${test} LIMIT 1`;
  return (await countOf({ ...input, select: some }, context)) > 0;
}

/** Positions, from 0, at which new parts begin, separated by commas. */
const partStarts = defineRowFunction("splunk.transaction-parts", (times, maxSpan, maxEvents) => {
  if (times === null) return null;
  const span = maxSpan === null ? Number.POSITIVE_INFINITY : Number(maxSpan);
  const maxCount = maxEvents === null ? Number.POSITIVE_INFINITY : Number(maxEvents);
  const starts: number[] = [];
  let newest = Number.NaN;
  let events = 0;
  let position = 0;
  for (let from = 0, to = 0; to < times.length; from = to + 1) {
    to = times.indexOf(",", from);
    if (to < 0) to = times.length;
    const moment = parseNumber(times, from, to);
    if (position === 0 || newest - moment > span || events >= maxCount) {
      if (position > 0) starts.push(position);
      newest = moment;
      events = 0;
    }
    events++;
    position++;
  }
  return starts.join(",");
});

/** Cuts segments that exceed a limit. Row by row, because the extent of a part depends on where it begins. */
function splitByLimits(
  { on, groups, closed }: Marks,
  keys: readonly Sql[],
  options: TransactionOptions,
): Marks {
  const { maxSpan, maxEvents } = options;
  const times = sql`string_agg(CAST(${time} AS VARCHAR), ',' ORDER BY ${rank})`;
  const starts = partStarts(times, limitText(maxSpan), limitText(maxEvents));
  const names = joined([...groups], ", ");
  const cut = (select: Sql) =>
    sql`SELECT ${names}, min(${rank}) AS "#first", ${starts} AS "#starts" FROM (${on(select)}) AS s GROUP BY ${names} HAVING ${exceedsLimit(options) ?? raw("false")}`;
  const begins = (select: Sql) =>
    sql`SELECT ${joined([...keys, sql`"#first" + CAST(unnest(string_split("#starts", ',')) AS BIGINT) AS "#begin"`], ", ")} FROM (${cut(select)}) AS c WHERE "#starts" <> ''`;
  const same = joined([...keys.map((key) => sql`s.${key} = p.${key}`), sql`s.${rank} = p."#begin"`], " AND ");
  const by =
    keys.length === 0
      ? raw("")
      : sql`PARTITION BY ${joined(
          keys.map((key) => sql`s.${key}`),
          ", ",
        )}`;
  const number = sql`sum(CASE WHEN p."#begin" IS NULL THEN 0 ELSE 1 END) OVER (${by} ORDER BY s.${rank} ROWS UNBOUNDED PRECEDING) AS ${part}`;
  return {
    on: (select) =>
      sql`SELECT s.*, ${number} FROM (${on(select)}) AS s LEFT JOIN (${begins(select)}) AS p ON ${same}`,
    groups: [...groups, part],
    closed,
  };
}

function limitText(limit: number | undefined): Sql {
  return limit === undefined ? raw("CAST(NULL AS VARCHAR)") : sql`CAST(${String(limit)} AS VARCHAR)`;
}
