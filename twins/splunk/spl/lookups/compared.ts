/** Lookups that compare: wildcards, networks, several values in one field, times. Each combination of values is compared once. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { inNetwork } from "../addresses/networks.ts";
import type { LookupDefinition, LookupTable } from "../context/knowledge.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { cachedRelationOf, type Rows, relationOf } from "../relation/rows.ts";
import { lambdaParameter, nullValue, numberOf, type Typed, textOf } from "../relation/typed.ts";
import { parseTime } from "../time/strptime.ts";
import { zoneOf } from "../time/zone-of.ts";
import { type LookedUp, maxMatches, type Wanted } from "./looked-up.ts";

const TIME = "#time";

/** What the values are compared in. */
export interface Surroundings {
  nowMs: number;
  timeZone: string;
}

/**
 * @param values of each row, over `(input.select) AS r`, in the order of the keys
 * @returns its keys are the values as they are; after them the row's time, if that counts
 */
export function comparedMatches(
  { name, table, keys, outputs }: Wanted,
  values: readonly Typed[],
  input: Relation,
  surroundings: Surroundings,
): LookedUp {
  const { definition = {} } = table;
  const rows =
    definition.timeField === undefined
      ? cachedRelationOf(table, `lookup ${name}`)
      : relationOf(timed(table, definition.timeField, definition, surroundings));
  const names = values.map((_, index) => identifier(`#key${index}`));
  const combinations = sql`SELECT DISTINCT ${joined(
    values.map(({ sql: value }, index) => sql`${value} AS ${names[index] ?? raw("")}`),
    ", ",
  )} FROM (${input.select}) AS r WHERE ${joined(
    values.map(({ sql: value }) => sql`${value} IS NOT NULL`),
    " AND ",
  )}`;
  const conditions = keys.map((key, index) =>
    agrees(
      { ...(values[index] ?? nullValue), sql: sql`k.${names[index] ?? raw("")}` },
      textIn(rows, key),
      definition.matchType?.[key] ?? "EXACT",
      definition.caseSensitive !== false,
    ),
  );
  const byTime = definition.timeField !== undefined;
  const all = byTime ? [...conditions, inTime(names.at(-1) ?? raw("NULL"), rows, definition)] : conditions;
  const first = byTime ? sql`t.${columnIn(rows, TIME)} DESC, t."#order0"` : raw('t."#order0"');
  const given = outputs.map(
    (output, index) => sql`t.${columnIn(rows, output)} AS ${identifier(`#value${index}`)}`,
  );
  const keyNames = joined(names, ", ");
  const keysOfMatch = joined(
    names.map((name) => sql`k.${name}`),
    ", ",
  );
  const matches = sql`SELECT ${joined([...names.map((name) => sql`k.${name}`), ...given], ", ")}, row_number() OVER (PARTITION BY ${keysOfMatch} ORDER BY ${first}) AS "#rank" FROM (${combinations}) AS k JOIN (${rows.select}) AS t ON ${joined(all, " AND ")} QUALIFY "#rank" <= CAST(${maxMatches(table)} AS BIGINT)`;
  const multi = maxMatches(table) > 1;
  const found = outputs.map((output, index) => {
    const value = identifier(`#value${index}`);
    const isThere = isText(rows, output) ? sql`${value} <> ''` : sql`${value} IS NOT NULL`;
    const list = sql`list(${value} ORDER BY "#rank") FILTER (WHERE ${isThere})`;
    return sql`${multi ? list : sql`any_value(${value}) FILTER (WHERE ${isThere})`} AS ${value}`;
  });
  return {
    select: sql`SELECT ${joined([...names, ...found], ", ")} FROM (${matches}) AS m GROUP BY ${keyNames}`,
    values: outputs.map((output) => ({ type: isText(rows, output) ? "text" : "number", multi })),
  };
}

function columnIn(rows: Relation, name: string): Sql {
  return identifier(columnOf(rows, name)?.column ?? name);
}

function isText(rows: Relation, name: string): boolean {
  return columnOf(rows, name)?.type !== "number";
}

function textIn(rows: Relation, name: string): Sql {
  const column = columnOf(rows, name);
  const value =
    column === undefined ? nullValue : { ...fieldValue(column), sql: sql`t.${identifier(column.column)}` };
  return textOf(value);
}

/** Whether a value, or one of a multi-value, agrees with what the table has. */
function agrees(value: Typed, pattern: Sql, type: "EXACT" | "WILDCARD" | "CIDR", caseCounts: boolean): Sql {
  const test = (one: Sql): Sql => {
    if (type === "CIDR") return sql`(${inNetwork(pattern, one)} = '1' OR ${one} = ${pattern})`;
    const [a, b] = caseCounts ? [one, pattern] : [sql`lower(${one})`, sql`lower(${pattern})`];
    return type === "EXACT" ? sql`${a} = ${b}` : sql`${a} LIKE ${likePattern(b)} ESCAPE '\\'`;
  };
  if (!value.multi) return test(textOf(value));
  const one = lambdaParameter();
  return sql`list_bool_or(list_transform(${textOf(value)}, lambda ${one}: ${test(one)}))`;
}

/** `*` stands for any characters; nothing else is special. */
function likePattern(pattern: Sql): Sql {
  return sql`replace(replace(replace(replace(${pattern}, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')`;
}

function inTime(
  time: Sql,
  rows: Relation,
  { maxOffsetSeconds = 2_000_000_000, minOffsetSeconds = 0 }: LookupDefinition,
): Sql {
  const later = sql`k.${time} - t.${columnIn(rows, TIME)}`;
  return sql`${later} BETWEEN CAST(${minOffsetSeconds} AS DOUBLE) AND CAST(${maxOffsetSeconds} AS DOUBLE)`;
}

/** The table with the times of its rows as numbers. */
function timed(
  table: LookupTable,
  timeField: string,
  { timeFormat = "%s.%Q" }: LookupDefinition,
  { nowMs, timeZone }: Surroundings,
): Rows {
  const index = table.fields.findIndex(({ name }) => name === timeField);
  const zone = zoneOf(timeZone);
  const secondsOf = (value: ResultValue): number | null => {
    if (value === null) return null;
    const text = String(value);
    if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
    return parseTime(text, timeFormat, { zone, nowMs, whole: true }) ?? null;
  };
  return {
    fields: [...table.fields, { name: TIME, type: "number", multi: false } as const],
    rows: table.rows.map((row) => [...row, secondsOf(row[index] ?? null)]),
  };
}

/** The time of a row, for tables whose rows hold from a time on. */
export function timeOfRows(input: Relation): Typed {
  const column = columnOf(input, "_time");
  const value = column === undefined ? raw("CAST(NULL AS DOUBLE)") : numberOf(fieldValue(column));
  return { type: "number", multi: false, sql: value };
}
