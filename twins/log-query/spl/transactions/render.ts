/** Transactions as rows: the fields of all their rows together. */
import { identifier, joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import { type Column, fieldValue, type OrderKey, type Output, type Relation, selected } from "../relation.ts";
import { type Typed, textOf } from "../typed.ts";
import { isEnd, isStart, type KeyedRows, keyName, time } from "./keyed-rows.ts";
import type { TransactionOptions } from "./options.ts";
import { type MarkedRows, rank } from "./segments.ts";

/** Fields that a transaction has of its own. */
const added = ["duration", "eventcount", "closed_txn", "field_match_sum"] as const;
/** Fields of the time: those of the earliest row. */
const ofEarliest = /^(_.*|date_.*|timestartpos|timeendpos)$/;

export function renderedRows(marked: MarkedRows, rows: KeyedRows, options: TransactionOptions): Relation {
  const { input } = rows;
  const columns = input.columns.filter(({ name }) => added.every((one) => one !== name));
  const values = columns.map((column) => together(column, rows, options));
  const value = (index: number) => identifier(`#value${index}`);
  const items = [
    ...values.map((typed, index) => sql`${typed.sql} AS ${value(index)}`),
    sql`min(${time}) AS "#oldest"`,
    sql`max(${time}) AS "#newest"`,
    sql`count(*) AS "#events"`,
    sql`${matchSum(rows)} AS "#matches"`,
    sql`max(${rank}) AS "#last"`,
    sql`${marked.closed ?? raw("NULL")} AS "#ending"`,
    ...input.order.map(
      ({ column }, index) =>
        sql`arg_max(${identifier(column)}, ${rank}) AS ${identifier(`#order${index + 1}`)}`,
    ),
    ...rows.keys.map((_, index) => sql`any_value(${keyName(index)}) AS ${identifier(`#group${index}`)}`),
  ];
  const complete = isComplete(options);
  const kept = options.keepEvicted
    ? raw("")
    : sql`HAVING ${complete ?? (marked.closed === undefined ? raw("true") : sql`${marked.closed} >= 0`)}`;
  const grouped = sql`SELECT ${joined([...items, sql`${complete ?? raw("NULL")} AS "#complete"`], ", ")} FROM (${marked.select}) AS m GROUP BY ${joined([...marked.groups], ", ")} ${kept}`;
  const from = sql`SELECT *, "#oldest" AS "#order0", ${closed(marked, rows, options)} AS "#closed" FROM (${grouped}) AS g`;
  const outputs: Output[] = [
    ...columns.map(({ name }, index) => ({
      name,
      value: { ...(values[index] ?? nothing), sql: value(index) },
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
  return selected(from, outputs, order, input.kind);
}

const nothing: Typed = { type: "text", multi: false, sql: raw("NULL") };

function numeric(name: string, value: Sql): Output {
  return { name, value: { type: "number", multi: false, sql: value } };
}

/** What the rows of one transaction have in a field. */
function together(column: Column, { keys }: KeyedRows, options: TransactionOptions): Typed {
  const own = fieldValue(column);
  const { name } = column;
  if (name === "_time") return { type: "number", multi: false, sql: sql`min(${time})` };
  if (name === "_raw") return rawTexts(textOf(own), options);
  if (ofEarliest.test(name)) return { ...own, sql: sql`arg_max(${own.sql}, ${rank})` };
  if (options.listed === "all" || (options.listed !== "none" && options.listed.has(name))) {
    return listed(own, options);
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

/** A value for each row, the oldest first; what is missing is said. */
function listed(own: Typed, { nullText }: TransactionOptions): Typed {
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

/** Whether a transaction begins and ends as it must; `undefined` when nothing is said of it. */
function isComplete({ startsWith, endsWith }: TransactionOptions): Sql | undefined {
  const tests = [
    ...(startsWith === undefined ? [] : [sql`bool_or(${isStart})`]),
    ...(endsWith === undefined ? [] : [sql`bool_or(${isEnd})`]),
  ];
  return tests.length === 0 ? undefined : sql`(${joined(tests, " AND ")})`;
}

/** 1 for what is complete, or what a limit has closed: another came after it, or nothing could have been added. */
function closed(
  marked: MarkedRows,
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
