/** Lookups by comparison: wildcards, networks, multi-values, times. Each distinct combination of values is compared once. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { inNetwork } from "../addresses/networks.ts";
import type { LookupDefinition, LookupTable } from "../context/knowledge.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { cachedRelationOf, type Rows, relationOf } from "../relation/rows.ts";
import { lambdaParameter, nullValue, numberOf, type Typed, textOf } from "../relation/typed.ts";
import { parseTime } from "../time/strptime.ts";
import { zoneOf } from "../time/zone-of.ts";
import { type LookupMatches, type LookupRequest, maxMatches } from "./match-exactly.ts";

const TIME = "#time";

/** How the times of the table are read. */
export interface LookupTimeOptions {
  nowMs: number;
  timeZone: string;
}

/**
 * Looks up values by comparing them with the rows of a table.
 * @param values over `(input.select) AS r`, in the order of the keys
 * @returns matches whose keys are the values unchanged, followed by the row's time if the table has times
 */
export function matchByComparison(
  { name, table, keys, outputs }: LookupRequest,
  values: readonly Typed[],
  input: Relation,
  timeOptions: LookupTimeOptions,
): LookupMatches {
  const { definition = {} } = table;
  const rows =
    definition.timeField === undefined
      ? cachedRelationOf(table, `lookup ${name}`)
      : relationOf(withTimes(table, definition.timeField, definition, timeOptions));
  const names = values.map((_, index) => identifier(`#key${index}`));
  const combinations = sql`SELECT DISTINCT ${joined(
    values.map(({ sql: value }, index) => sql`${value} AS ${names[index] ?? raw("")}`),
    ", ",
  )} FROM (${input.select}) AS r WHERE ${joined(
    values.map(({ sql: value }) => sql`${value} IS NOT NULL`),
    " AND ",
  )}`;
  const conditions = keys.map((key, index) =>
    valueMatches(
      { ...(values[index] ?? nullValue), sql: sql`k.${names[index] ?? raw("")}` },
      textIn(rows, key),
      {
        type: definition.matchType?.[key] ?? "EXACT",
        caseSensitive: definition.caseSensitive !== false,
      },
    ),
  );
  const byTime = definition.timeField !== undefined;
  const all = byTime
    ? [...conditions, withinOffsets(names.at(-1) ?? raw("NULL"), rows, definition)]
    : conditions;
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

interface KeyComparison {
  type: "EXACT" | "WILDCARD" | "CIDR";
  caseSensitive: boolean;
}

/** Whether a value, or one value of a multi-value, matches a value of the table. */
function valueMatches(value: Typed, pattern: Sql, { type, caseSensitive }: KeyComparison): Sql {
  const test = (one: Sql): Sql => {
    if (type === "CIDR") return sql`(${inNetwork(pattern, one)} = '1' OR ${one} = ${pattern})`;
    const [a, b] = caseSensitive ? [one, pattern] : [sql`lower(${one})`, sql`lower(${pattern})`];
    return type === "EXACT" ? sql`${a} = ${b}` : sql`${a} LIKE ${likePattern(b)} ESCAPE '\\'`;
  };
  if (!value.multi) return test(textOf(value));
  const one = lambdaParameter();
  return sql`list_bool_or(list_transform(${textOf(value)}, lambda ${one}: ${test(one)}))`;
}

/** A LIKE pattern for a text in which only `*` is special. */
function likePattern(pattern: Sql): Sql {
  return sql`replace(replace(replace(replace(${pattern}, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')`;
}

function withinOffsets(
  time: Sql,
  rows: Relation,
  { maxOffsetSeconds = 2_000_000_000, minOffsetSeconds = 0 }: LookupDefinition,
): Sql {
  const later = sql`k.${time} - t.${columnIn(rows, TIME)}`;
  return sql`${later} BETWEEN CAST(${minOffsetSeconds} AS DOUBLE) AND CAST(${maxOffsetSeconds} AS DOUBLE)`;
}

/** Appends the times of the rows as numbers. */
function withTimes(
  table: LookupTable,
  timeField: string,
  { timeFormat = "%s.%Q" }: LookupDefinition,
  { nowMs, timeZone }: LookupTimeOptions,
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

/** The time of each row of the search, to compare with the times of a table. */
export function timeOfRows(input: Relation): Typed {
  const column = columnOf(input, "_time");
  const value = column === undefined ? raw("CAST(NULL AS DOUBLE)") : numberOf(fieldValue(column));
  return { type: "number", multi: false, sql: value };
}
