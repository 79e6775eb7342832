/** The fields of events: the dataset's own, and those that splunkd adds to every event. */
import { spelledValue } from "@offhook/log-store/field-name";
import { columnOf, type Field, type FieldCatalog } from "@offhook/log-store/fields";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../../product.ts";
import type { Output } from "../relation/relation.ts";
import { bindOnce, mapList, type Typed, textOf } from "../relation/typed.ts";

/** Values for events that have no `source` or `sourcetype`. */
const DEFAULT_SOURCE = "dataset";
const DEFAULT_SOURCETYPE = "_json";

/** The event's text over `documents`: its `_raw` member, else its JSON. */
function rawText(fields: FieldCatalog): Sql {
  const field = fields.get("_raw");
  return field?.type === "text" && !field.multi ? sql`coalesce(${columnOf(field)}, _source)` : raw("_source");
}

/** The time of events in the store's own representation: a TIMESTAMP, which filters and sorts fast, or seconds. */
export interface EventTime {
  /** The time of an event of `documents`; NULL when it has none. */
  readonly moment: Sql;
  /** A constant. @param ms since the epoch */
  at(ms: number): Sql;
  /** Converts to seconds since the epoch, with a fraction: DOUBLE. */
  seconds(moment: Sql): Sql;
  timestamp(moment: Sql): Sql;
}

export function timeOf(fields: FieldCatalog): EventTime {
  const field = fields.get("_time") ?? fields.timeField;
  if (field?.type === "date" && !field.multi) {
    return {
      moment: columnOf(field),
      at: (ms) => sql`make_timestamp(CAST(${BigInt(Math.round(ms * 1000))} AS BIGINT))`,
      seconds: (moment) => sql`epoch(${moment})`,
      timestamp: (moment) => moment,
    };
  }
  const isKnown = field !== undefined && !field.multi;
  return {
    moment: isKnown ? sql`TRY_CAST(${columnOf(field)} AS DOUBLE)` : raw("CAST(NULL AS DOUBLE)"),
    at: (ms) => sql`CAST(${ms / 1000} AS DOUBLE)`,
    seconds: (moment) => moment,
    timestamp: (moment) => sql`make_timestamp(CAST(${moment} * 1e6 AS BIGINT))`,
  };
}

/** All fields of events over `documents`, sorted by code points. @param moment time of each event; never NULL */
export function eventFields(fields: FieldCatalog, moment: Sql): Output[] {
  const text = rawText(fields);
  const time = timeOf(fields);
  const seconds = time.seconds(moment);
  const values = new Map<string, Typed>();
  for (const field of fields.all()) values.set(field.name, datasetValue(field));
  // NULL when the event took its time from elsewhere.
  if (fields.timeField?.type === "date" && !fields.timeField.multi) {
    values.set(fields.timeField.name, { type: "text", multi: false, sql: spelledTime(fields.timeField) });
  }
  const fallback = (name: string, value: Typed) => {
    const own = values.get(name);
    values.set(name, neverNull(own === undefined ? value : prefer(own, value)));
  };
  values.set("_raw", neverNull({ type: "text", multi: false, sql: text }));
  values.set("_time", neverNull(number(seconds)));
  values.set("_sourcetype", neverNull(preferText(values.get("sourcetype"), DEFAULT_SOURCETYPE)));
  fallback("_indextime", number(sql`floor(${seconds})`));
  fallback("host", constant(SERVER_NAME));
  fallback("source", constant(DEFAULT_SOURCE));
  fallback("sourcetype", constant(DEFAULT_SOURCETYPE));
  fallback("index", { type: "text", multi: false, sql: raw("_index") });
  fallback("splunk_server", constant(SERVER_NAME));
  fallback("linecount", number(sql`(length(${text}) - length(replace(${text}, chr(10), '')) + 1)`));
  fallback("punct", { type: "text", multi: false, sql: punctuation(text) });
  for (const [name, value] of dateParts(time.timestamp(moment))) fallback(name, value);
  for (const [name, value] of timePosition(fields, text)) {
    const own = values.get(name);
    values.set(name, own === undefined ? value : prefer(own, value));
  }
  return [...values]
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Marks a field that every event has. */
function neverNull(value: Typed): Typed {
  return { ...value, nonNull: value.sql };
}

function number(value: Sql): Typed {
  return { type: "number", multi: false, sql: value };
}

function constant(text: string): Typed {
  return { type: "text", multi: false, sql: sql`CAST(${text} AS VARCHAR)` };
}

/** The document's own value, else a default. */
function prefer(own: Typed, value: Typed): Typed {
  if (own.multi) {
    const other = own.type === "number" ? value : { ...value, type: "text" as const, sql: textOf(value) };
    return { ...own, sql: sql`coalesce(${own.sql}, [${other.sql}])` };
  }
  if (own.type === value.type) return { ...own, sql: sql`coalesce(${own.sql}, ${value.sql})` };
  return { type: "text", multi: false, sql: sql`coalesce(${textOf(own)}, ${textOf(value)})` };
}

function preferText(own: Typed | undefined, text: string): Typed {
  return own === undefined ? constant(text) : prefer(own, constant(text));
}

/** A field of the dataset. */
function datasetValue(field: Field): Typed {
  const column = columnOf(field);
  const { multi } = field;
  switch (field.type) {
    case "text":
      return { type: "text", multi, sql: column };
    case "boolean":
      return { type: "text", multi, sql: sql`CAST(${column} AS ${raw(multi ? "VARCHAR[]" : "VARCHAR")})` };
    case "date":
      return { type: "text", multi, sql: multi ? mapList(column, isoTime) : originalTime(field) };
    case "long":
      return { type: "number", multi, sql: column, ...(!multi && { integer: true }) };
    default:
      return { type: "number", multi, sql: column };
  }
}

function isoTime(value: Sql): Sql {
  return sql`strftime(${value}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
}

/** A time as the event spells it; the column holds the moment only. */
function originalTime(field: Field): Sql {
  const column = columnOf(field);
  return sql`CASE WHEN ${column} IS NOT NULL THEN coalesce(${spelledValue(field.name)}, ${isoTime(column)}) END`;
}

function spelledTime(field: Field): Sql {
  return sql`CASE WHEN ${columnOf(field)} IS NOT NULL THEN ${spelledValue(field.name)} END`;
}

/** Prefix that usually contains thirty marks; the rest of the text is read only when it does not. */
const PUNCT_PREFIX_CHARACTERS = 128;

/** `punct`: the first thirty punctuation marks of the first line, with `_` for blanks and `t` for tabs, without hyphens in words. */
function punctuation(text: Sql): Sql {
  const beginning = raw(String(PUNCT_PREFIX_CHARACTERS));
  return bindOnce(marks(sql`left(${text}, ${beginning})`), (first) => {
    const isEnough = sql`length(${first}) >= 30 OR strlen(${text}) <= ${beginning}`;
    return sql`left(CASE WHEN ${isEnough} THEN ${first} ELSE ${marks(text)} END, 30)`;
  });
}

/** The marks of a text. A mark depends only on what precedes it, so the marks of a prefix are a prefix of the marks. */
function marks(text: Sql): Sql {
  const line = sql`regexp_extract(${text}, '^[^\\r\\n]*')`;
  const found = sql`regexp_replace(regexp_replace(${line}, '([A-Za-z0-9])-', '\\1', 'g'), '[^-,;#$%&+./:=?@\\\\''|*"(){}<>^!\\[\\] \\t]+', '', 'g')`;
  return sql`translate(${found}, ' ' || chr(9), '_t')`;
}

function dateParts(at: Sql): [string, Typed][] {
  const part = (name: string) => number(sql`date_part(${name}, ${at})`);
  const named = (format: string): Typed => ({
    type: "text",
    multi: false,
    sql: sql`lower(strftime(${at}, ${format}))`,
  });
  return [
    ["date_hour", part("hour")],
    ["date_mday", part("day")],
    ["date_minute", part("minute")],
    ["date_month", named("%B")],
    ["date_second", number(sql`floor(date_part('second', ${at}))`)],
    ["date_wday", named("%A")],
    ["date_year", part("year")],
    ["date_zone", { ...constant("0"), type: "number", sql: raw("0") }],
  ];
}

/** The position of the time in the event's text; missing when it is not there. */
function timePosition(fields: FieldCatalog, text: Sql): [string, Typed][] {
  const field = fields.timeField;
  if (field === undefined || field.multi || field.type !== "date") return [];
  const written = spelledTime(field);
  const start = sql`nullif(strpos(${text}, ${written}), 0)`;
  return [
    ["timestartpos", number(sql`(${start} - 1)`)],
    ["timeendpos", number(sql`(${start} - 1 + length(${written}))`)],
  ];
}
