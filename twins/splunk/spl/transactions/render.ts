/** Renders transactions as rows that merge the fields of their events. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { deferredOf, ROW } from "../relation/deferred-columns.ts";
import type { OrderKey } from "../relation/order-keys.ts";
import { type Column, fieldValue, type Output, type Relation, select } from "../relation/relation.ts";
import { nullValue, type Typed, textOf } from "../relation/typed.ts";
import { deferredFields, groupColumn, hiddenColumns } from "./deferred-fields.ts";
import { isEnd, isStart, type KeyedRows, keyName, time } from "./keyed-rows.ts";
import type { TransactionOptions } from "./options.ts";
import { type Marks, rank } from "./segments.ts";

/** Fields that `transaction` adds. */
const ownFields = ["duration", "eventcount", "closed_txn", "field_match_sum"] as const;
/** Fields that a transaction takes from its earliest row. */
const ofEarliest = /^(_.*|date_.*|timestartpos|timeendpos)$/;

export function renderTransactions(marks: Marks, rows: KeyedRows, options: TransactionOptions): Relation {
  const { input } = rows;
  const columns = input.columns.filter(({ name }) => ownFields.every((one) => one !== name));
  const values = columns.map((column) => mergeField(column, rows, options));
  const complete = isComplete(options);
  const items = [
    ...values.map(({ sql: value }, index) => ({ column: `#value${index}`, value })),
    ...summaries(marks, rows),
    ...input.order.map(({ column }, index) => ({
      column: `#order${index + 1}`,
      value: sql`arg_max(${identifier(column)}, ${rank})`,
    })),
    ...rows.keys.map((_, index) => ({
      column: `#group${index}`,
      value: sql`any_value(${keyName(index)})`,
    })),
    ...(rows.narrow === undefined ? [] : [{ column: "#first event", value: sql`min(${identifier(ROW)})` }]),
    { column: "#complete", value: complete ?? raw("NULL") },
  ];
  const groups = marks.groups.map((group, index) => sql`${group} AS ${groupColumn(index)}`);
  const having = options.keepEvicted
    ? raw("")
    : sql`HAVING ${complete ?? (marks.closed === undefined ? raw("true") : sql`${marks.closed} >= 0`)}`;
  const grouped = sql`SELECT ${prunableColumns(items, groups)} FROM (${marks.on(rows.select)}) AS m GROUP BY ${joined([...marks.groups], ", ")} ${having}`;
  // Only if read: DuckDB computes windows even when their result is unused.
  const hasEnded = [{ column: "#closed", value: closedFlag(marks, rows, options) }];
  const from = sql`SELECT ${prunableColumns(hasEnded, [raw("*"), raw('"#oldest" AS "#order0"')])} FROM (${grouped}) AS g`;
  const outputs: Output[] = [
    ...columns.map(({ name }, index) => ({
      name,
      value: { ...(values[index] ?? nullValue), sql: identifier(`#value${index}`) },
    })),
    numeric("duration", sql`round("#newest" - "#oldest", 6)`),
    numeric("eventcount", raw('"#events"')),
    numeric("closed_txn", raw('"#closed"')),
    ...(rows.keys.length > 0 ? [numeric("field_match_sum", raw('"#matches"'))] : []),
  ];
  const order: OrderKey[] = [
    { column: "#order0", direction: "DESC" },
    ...input.order.map(({ direction }, index) => ({ column: `#order${index + 1}`, direction })),
  ];
  return deferFields({ from, outputs, order }, values, marks, rows);
}

/** A transaction's own figures, without the fields of its rows. */
function summaries({ closed }: Marks, rows: KeyedRows): { column: string; value: Sql }[] {
  return [
    { column: "#oldest", value: sql`min(${time})` },
    { column: "#newest", value: sql`max(${time})` },
    { column: "#events", value: sql`count(*)` },
    { column: "#matches", value: matchSum(rows) },
    { column: "#last", value: sql`max(${rank})` },
    { column: "#ending", value: closed ?? raw("NULL") },
  ];
}

/** The transactions, with the fields of their events deferred where possible. */
function deferFields(
  { from, outputs, order }: { from: Sql; outputs: readonly Output[]; order: readonly OrderKey[] },
  values: readonly Typed[],
  marks: Marks,
  rows: KeyedRows,
): Relation {
  const { kind } = rows.input;
  const deferred = deferredOf(rows.input);
  if (rows.narrow === undefined || deferred === undefined) return select(from, outputs, order, kind);
  const hidden = hiddenColumns(marks.groups.length);
  const result = select(from, outputs, order, kind, hidden);
  const members = { deferred, marked: marks.on(rows.narrow), groups: marks.groups };
  const items = result.columns.map(({ column }, index) => {
    const value = outputs[index]?.value.sql ?? raw("NULL");
    return { column, value };
  });
  const fetch = (found: Sql) => deferredFields(found, members, values, items);
  const passthrough = hidden.map(({ column }) => column);
  return { ...result, ofEvents: true, deferred: { of: result.select, passthrough, select: fetch } };
}

function numeric(name: string, value: Sql): Output {
  return { name, value: { type: "number", multi: false, sql: value } };
}

/** The value of a field over the rows of a transaction. */
function mergeField(column: Column, { keys }: KeyedRows, options: TransactionOptions): Typed {
  const own = fieldValue(column);
  const { name } = column;
  if (name === "_time") return { type: "number", multi: false, sql: sql`min(${time})` };
  if (name === "_raw") return rawTexts(textOf(own), options);
  if (ofEarliest.test(name)) return { ...own, sql: sql`arg_max(${own.sql}, ${rank})` };
  if (options.listFields === "all" || (options.listFields !== "none" && options.listFields.has(name))) {
    return listValues(own, options);
  }
  if (name === "linecount" && !own.multi && own.type === "number")
    return { ...own, sql: sql`sum(${own.sql})` };
  const there = sql`list(${own.sql}) FILTER (WHERE ${own.sql} IS NOT NULL)`;
  if (own.multi) return { ...own, sql: sql`list_sort(list_distinct(flatten(${there})))` };
  if (keys.includes(column)) return { ...own, sql: sql`any_value(${own.sql})` };
  return { ...own, multi: true, sql: sql`list_sort(list_distinct(${there}))` };
}

function rawTexts(value: Sql, { rawAsList, delim }: TransactionOptions): Typed {
  const oldestFirst = sql`ORDER BY ${rank} DESC`;
  if (rawAsList) {
    return {
      type: "text",
      multi: true,
      sql: sql`list(${value} ${oldestFirst}) FILTER (WHERE ${value} IS NOT NULL)`,
    };
  }
  return {
    type: "text",
    multi: false,
    sql: sql`string_agg(${value}, CAST(${delim} AS VARCHAR) ${oldestFirst})`,
  };
}

/** One value for each row, oldest first; `nullText` for missing ones. */
function listValues(own: Typed, { nullText }: TransactionOptions): Typed {
  const missing = sql`CAST(${nullText} AS VARCHAR)`;
  const oldestFirst = sql`ORDER BY ${rank} DESC`;
  const text = textOf(own);
  const list = own.multi
    ? sql`flatten(list(coalesce(${text}, [${missing}]) ${oldestFirst}))`
    : sql`list(coalesce(${text}, ${missing}) ${oldestFirst})`;
  return { type: "text", multi: true, sql: list };
}

function matchSum({ keys }: KeyedRows): Sql {
  if (keys.length === 0) return raw("0");
  const present = keys.map((_, index) => sql`CASE WHEN ${keyName(index)} IS NULL THEN 0 ELSE 1 END`);
  return sql`sum(${joined(present, " + ")})`;
}

/** Whether a transaction has its required start and end; `undefined` when neither is required. */
function isComplete({ startsWith, endsWith }: TransactionOptions): Sql | undefined {
  const tests = [
    ...(startsWith === undefined ? [] : [sql`bool_or(${isStart})`]),
    ...(endsWith === undefined ? [] : [sql`bool_or(${isEnd})`]),
  ];
  return tests.length === 0 ? undefined : sql`(${joined(tests, " AND ")})`;
}

/** `closed_txn`: 1 for complete transactions, and for those closed by a limit: a later one follows, or no event could be added. */
function closedFlag(
  marked: Marks,
  { keys }: KeyedRows,
  { startsWith, endsWith, maxSpan, maxPause, maxEvents }: TransactionOptions,
): Sql {
  if (startsWith !== undefined || endsWith !== undefined)
    return raw('CASE WHEN "#complete" THEN 1 ELSE 0 END');
  if (marked.closed !== undefined) return raw('greatest("#ending", 0)');
  const names = keys.map((_, index) => identifier(`#group${index}`));
  const by = names.length === 0 ? raw("") : sql`PARTITION BY ${joined(names, ", ")}`;
  const oldest = raw('min("#oldest") OVER ()');
  const tests = [
    sql`max("#last") OVER (${by}) > "#last"`,
    ...(maxEvents === undefined ? [] : [sql`"#events" >= CAST(${maxEvents} AS BIGINT)`]),
    ...(maxPause === undefined ? [] : [sql`"#oldest" - ${oldest} > CAST(${maxPause} AS DOUBLE)`]),
    ...(maxSpan === undefined ? [] : [sql`"#newest" - ${oldest} > CAST(${maxSpan} AS DOUBLE)`]),
  ];
  return sql`CASE WHEN ${joined(tests, " OR ")} THEN 1 ELSE 0 END`;
}
