/** The fields that events have: the dataset's own, and those that splunkd gives to every event. */
import { spelledValue } from "@offhook/log-store/field-name";
import { columnOf, type Field, type FieldCatalog } from "@offhook/log-store/fields";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../../product.ts";
import type { Output } from "../relation/relation.ts";
import { bindOnce, mapList, type Typed, textOf } from "../relation/typed.ts";

/** What events that say nothing of it are said to come from. */
const DEFAULT_SOURCE = "dataset";
const DEFAULT_SOURCETYPE = "_json";

/** An event as it was written: its `_raw` member, else its JSON text. Reads `documents`. */
export function rawText(fields: FieldCatalog): Sql {
  const field = fields.get("_raw");
  return field?.type === "text" && !field.multi ? sql`coalesce(${columnOf(field)}, _source)` : raw("_source");
}

/** When events happened, as the store keeps it: a TIMESTAMP, by which they are found and put in order fast, or seconds. */
export interface EventTime {
  /** Of an event of `documents`; NULL for one that does not say when it happened. */
  readonly moment: Sql;
  /** A moment that is known. @param ms since the epoch */
  at(ms: number): Sql;
  /** Seconds since the epoch, with a fraction: DOUBLE. */
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

/** All fields of events, by name in code point order, over `documents` with its columns. @param moment of each event; never NULL */
export function eventFields(fields: FieldCatalog, moment: Sql): Output[] {
  const text = rawText(fields);
  const time = timeOf(fields);
  const seconds = time.seconds(moment);
  const values = new Map<string, Typed>();
  for (const field of fields.all()) values.set(field.name, datasetValue(field));
  // An event may have its time elsewhere: then it has no such field.
  if (fields.timeField?.type === "date" && !fields.timeField.multi) {
    values.set(fields.timeField.name, { type: "text", multi: false, sql: spelledTime(fields.timeField) });
  }
  const fallback = (name: string, value: Typed) => {
    const own = values.get(name);
    values.set(name, always(own === undefined ? value : preferred(own, value)));
  };
  values.set("_raw", always({ type: "text", multi: false, sql: text }));
  values.set("_time", always(number(seconds)));
  values.set("_sourcetype", always(preferredText(values.get("sourcetype"), DEFAULT_SOURCETYPE)));
  fallback("_indextime", number(sql`floor(${seconds})`));
  fallback("host", constant(SERVER_NAME));
  fallback("source", constant(DEFAULT_SOURCE));
  fallback("sourcetype", constant(DEFAULT_SOURCETYPE));
  fallback("index", { type: "text", multi: false, sql: raw("_index") });
  fallback("splunk_server", constant(SERVER_NAME));
  fallback("linecount", number(sql`(length(${text}) - length(replace(${text}, chr(10), '')) + 1)`));
  fallback("punct", { type: "text", multi: false, sql: punctuation(text) });
  for (const [name, value] of datePieces(time.timestamp(moment))) fallback(name, value);
  for (const [name, value] of timePlace(fields, text)) {
    const own = values.get(name);
    values.set(name, own === undefined ? value : preferred(own, value));
  }
  return [...values]
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** No event is without it. */
function always(value: Typed): Typed {
  return { ...value, nonNull: value.sql };
}

function number(value: Sql): Typed {
  return { type: "number", multi: false, sql: value };
}

function constant(text: string): Typed {
  return { type: "text", multi: false, sql: sql`CAST(${text} AS VARCHAR)` };
}

/** The document's own value where it has one. */
function preferred(own: Typed, value: Typed): Typed {
  if (own.multi) {
    const other = own.type === "number" ? value : { ...value, type: "text" as const, sql: textOf(value) };
    return { ...own, sql: sql`coalesce(${own.sql}, [${other.sql}])` };
  }
  if (own.type === value.type) return { ...own, sql: sql`coalesce(${own.sql}, ${value.sql})` };
  return { type: "text", multi: false, sql: sql`coalesce(${textOf(own)}, ${textOf(value)})` };
}

function preferredText(own: Typed | undefined, text: string): Typed {
  return own === undefined ? constant(text) : preferred(own, constant(text));
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
      return { type: "text", multi, sql: multi ? mapList(column, isoTime) : writtenTime(field) };
    case "long":
      return { type: "number", multi, sql: column, ...(!multi && { integer: true }) };
    default:
      return { type: "number", multi, sql: column };
  }
}

function isoTime(value: Sql): Sql {
  return sql`strftime(${value}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
}

/** A time as the event wrote it: the column knows the moment alone. */
function writtenTime(field: Field): Sql {
  const column = columnOf(field);
  return sql`CASE WHEN ${column} IS NOT NULL THEN coalesce(${spelledValue(field.name)}, ${isoTime(column)}) END`;
}

function spelledTime(field: Field): Sql {
  return sql`CASE WHEN ${columnOf(field)} IS NOT NULL THEN ${spelledValue(field.name)} END`;
}

/** As a rule thirty marks stand in so many characters: then no more of them are looked at. */
const PUNCTUATED = 128;

/** The first thirty marks of the first line: blanks as `_`, tabs as `t`; a hyphen within a word is none. */
function punctuation(text: Sql): Sql {
  const beginning = raw(String(PUNCTUATED));
  return bindOnce(marks(sql`left(${text}, ${beginning})`), (first) => {
    const isEnough = sql`length(${first}) >= 30 OR strlen(${text}) <= ${beginning}`;
    return sql`left(CASE WHEN ${isEnough} THEN ${first} ELSE ${marks(text)} END, 30)`;
  });
}

/** What a mark is depends on what stands before it alone, so that the marks of a text begin with those of its beginning. */
function marks(text: Sql): Sql {
  const line = sql`regexp_extract(${text}, '^[^\\r\\n]*')`;
  const found = sql`regexp_replace(regexp_replace(${line}, '([A-Za-z0-9])-', '\\1', 'g'), '[^-,;#$%&+./:=?@\\\\''|*"(){}<>^!\\[\\] \\t]+', '', 'g')`;
  return sql`translate(${found}, ' ' || chr(9), '_t')`;
}

function datePieces(at: Sql): [string, Typed][] {
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

/** Where in the event's text its time stands; missing when it does not stand there. */
function timePlace(fields: FieldCatalog, text: Sql): [string, Typed][] {
  const field = fields.timeField;
  if (field === undefined || field.multi || field.type !== "date") return [];
  const written = spelledTime(field);
  const start = sql`nullif(strpos(${text}, ${written}), 0)`;
  return [
    ["timestartpos", number(sql`(${start} - 1)`)],
    ["timeendpos", number(sql`(${start} - 1 + length(${written}))`)],
  ];
}
