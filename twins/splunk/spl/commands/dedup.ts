/** `dedup`: the first rows of each combination of values. */
import { pruneColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { deferredOf } from "../relation/deferred-columns.ts";
import { isLarge, orderBy, rowsWithKeys } from "../relation/order.ts";
import { orderByClause, orderValue } from "../relation/order-keys.ts";
import {
  type Column,
  columnOf,
  filter,
  outputsOf,
  project,
  type Relation,
  select,
  withHiddenColumn,
} from "../relation/relation.ts";
import { matchingNames } from "../relation/wildcards.ts";
import { rowIn } from "../search/row-numbers.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean } from "../syntax/option-types.ts";
import { readSortFields, type SortField, sortKeys } from "./sort-keys.ts";

const optionTypes = { keepevents: boolean, keepempty: boolean, consecutive: boolean };

export const dedup = defineCommand({
  name: "dedup",
  kind: "stateful",
  parse(reader) {
    const before = reader.options(optionTypes);
    const limit = /^\d+$/.test(reader.peek().text) ? reader.integer("a number of rows") : 1;
    if (limit < 1) reader.fail("The limit option is invalid. It must be >= 1.");
    const names = reader.fields(["sortby"]);
    const options = { ...before, ...reader.options(optionTypes) };
    names.push(...reader.fields(["sortby"]));
    const order = reader.keyword("sortby") ? readOrder(reader) : [];
    const {
      keepevents = false,
      keepempty = false,
      consecutive = false,
    } = { ...options, ...reader.options(optionTypes) };
    if (names.length === 0) reader.fail("At least one field must be given as an argument.");
    return { limit, names, order, keepevents, keepempty, consecutive };
  },
  compile({ limit, names, order, keepevents, keepempty, consecutive }, input, context) {
    const rows = order.length === 0 ? input : orderBy(input, sortKeys(input, order));
    const columns = keyColumns(rows, names);
    if (columns === undefined) return keepempty ? rows : filter(rows, raw("FALSE"));
    const keys = columns.map(({ column }) => identifier(column));
    const complete = joined(
      keys.map((key) => sql`${key} IS NOT NULL`),
      " AND ",
    );
    const candidates = keepempty || keepevents ? rows : filter(rows, complete);
    const row = rows.order.find(({ unique }) => unique);
    const isPlain = !keepempty && !keepevents && !consecutive;
    if (isPlain && row !== undefined && isLarge(rows)) {
      return firstEvents(candidates, { keys, limit, row: identifier(row.column) }, context);
    }
    const positioned = consecutive ? withRunPosition(candidates, keys) : withGroupPosition(candidates, keys);
    const extra = sql`(${complete} AND "#position" > CAST(${limit} AS BIGINT))`;
    if (keepevents) return blankExtras(positioned, columns, extra);
    const remaining = filter(positioned, sql`NOT ${extra}`);
    if (!isLarge(rows) || deferredOf(remaining) !== undefined)
      return project(remaining, outputsOf(remaining));
    return rowsWithKeys(rows, select(remaining.select, [], remaining.order, remaining.kind).select);
  },
});

/** Row numbers that go into a statement as literals, and as a list; beyond that, the statement runs the subquery itself. */
const MAX_LITERAL_ROWS = 2_000;
const MAX_LISTED_ROWS = 50_000;

interface FirstEventsOptions {
  keys: readonly Sql[];
  limit: number;
  /** Column with the row number. */
  row: Sql;
}

/**
 * The first events of each combination. Of very many events few may remain, so a first statement finds their numbers from keys and
 * order keys alone; then only these events are read in full.
 */
async function firstEvents(
  rows: Relation,
  { keys, limit, row }: FirstEventsOptions,
  context: SearchContext,
): Promise<Relation> {
  const first = limit === 1 ? firstRows(rows, keys, row) : firstRowsByPosition(rows, keys, row, limit);
  const numbers = { name: "#row", column: "#row", type: "number", multi: false } as const;
  const found = await context.run(
    { select: first, columns: [numbers], order: [], kind: "report" },
    MAX_LISTED_ROWS + 1,
  );
  const rowNumbers = found.rows.map(([number]) => String(number));
  const bounded = { ...rows, maxRows: rowNumbers.length };
  if (rowNumbers.length <= MAX_LITERAL_ROWS) return filter(bounded, rowIn(row, rowNumbers));
  if (rowNumbers.length > MAX_LISTED_ROWS) return filter(rows, sql`${row} IN (${first})`);
  const list = sql`SELECT unnest(from_json(${JSON.stringify(rowNumbers.map(Number))}, '["BIGINT"]'))`;
  return filter(bounded, sql`${row} IN (${list})`);
}

/**
 * Row numbers of the first row of each combination. Events sorted by time are scanned twice, first for the earliest time of each
 * combination, then for the first event at that time: this is faster than comparing all order keys of every event.
 */
function firstRows(rows: Relation, keys: readonly Sql[], row: Sql): Sql {
  const [time, number, ...others] = rows.order;
  const earliest = sql`SELECT arg_min(${row}, ${orderValue(rows.order) ?? row}) AS "#row" FROM (${rows.select}) AS r`;
  const by = sql`GROUP BY ${joined(keys, ", ")}`;
  const inTime = time !== undefined && number?.unique && others.length === 0;
  if (!inTime || isCostly(sql`${earliest} ${by}`)) return sql`${earliest} ${by}`;
  const moment = identifier(time.column);
  const pairs = keys.map((key, index) => ({ key, name: identifier(`#key${index}`) }));
  const items = pairs.map(({ key, name }) => sql`${key} AS ${name}`);
  const agree = pairs.map(({ key, name }) => sql`r.${key} = k.${name}`);
  const extreme = raw(time.direction === "ASC" ? "min" : "max");
  const times = sql`SELECT ${joined(items, ", ")}, ${extreme}(${moment}) AS "#first" FROM (${rows.select}) AS r ${by}`;
  return sql`${earliest} SEMI JOIN (${times}) AS k ON r.${moment} = k."#first" AND ${joined(agree, " AND ")} ${by}`;
}

/** Whether scanning the rows twice would cost more than it saves, because their conditions are expensive. */
function isCostly(statement: Sql): boolean {
  return pruneColumns(statement).texts.some((text) => costly.test(text));
}

/** Expensive functions. `json_extract_string(_source …)` is exempt: it only spells the time of events that are shown. */
const costly =
  /\b(regexp_|json_(?!extract_string\(_source)|list_|string_|program\(|contains\(|instr\(|lambda\b|LIKE\b|TRY_CAST\b)/i;

function firstRowsByPosition(rows: Relation, keys: readonly Sql[], row: Sql, limit: number): Sql {
  const { select } = withGroupPosition(rows, keys);
  return sql`SELECT ${row} AS "#row" FROM (${select}) AS r WHERE "#position" <= CAST(${limit} AS BIGINT)`;
}

/** Adds `#position`: the row's position among those with the same values, from 1. */
function withGroupPosition(rows: Relation, keys: readonly Sql[]): Relation {
  const position = sql`row_number() OVER (PARTITION BY ${joined(keys, ", ")} ${orderByClause(rows.order)})`;
  return withHiddenColumn(rows, "#position", position);
}

/** Adds `#position`, counted within runs of consecutive rows with the same values. */
function withRunPosition(rows: Relation, keys: readonly Sql[]): Relation {
  const order = orderByClause(rows.order);
  const differs = keys.map((key) => sql`${key} IS DISTINCT FROM lag(${key}) OVER (${order})`);
  const begins = joined([sql`row_number() OVER (${order}) = 1`, ...differs], " OR ");
  const starts = withHiddenColumn(rows, "#begins", sql`CAST((${begins}) AS BIGINT)`);
  const runs = withHiddenColumn(
    starts,
    "#run",
    sql`sum("#begins") OVER (${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`,
  );
  return withHiddenColumn(runs, "#position", sql`row_number() OVER (PARTITION BY "#run" ${order})`);
}

/** Keeps all rows, but clears the key fields of surplus ones. */
function blankExtras(rows: Relation, columns: readonly Column[], extra: Sql): Relation {
  const names = new Set(columns.map(({ name }) => name));
  const outputs = outputsOf(rows).map((output) => {
    if (!names.has(output.name)) return output;
    const { value } = output;
    return { ...output, value: { ...value, sql: sql`CASE WHEN NOT ${extra} THEN ${value.sql} END` } };
  });
  return project(rows, outputs);
}

function readOrder(reader: ArgumentReader): SortField[] {
  const { fields } = readSortFields(reader);
  if (fields.length === 0) reader.fail("You must provide a sortby field name.");
  return fields;
}

/** @returns `undefined` when no row has one of the fields */
function keyColumns(rows: Relation, names: readonly string[]): Column[] | undefined {
  const columns = matchingNames(rows, names).map((name) => columnOf(rows, name));
  const known = columns.filter((column) => column !== undefined);
  return known.length === columns.length && known.length > 0 ? known : undefined;
}
