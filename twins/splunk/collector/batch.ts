/** Turns the body of a request into events, and says why the rest is refused. */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import type { HecTokenRow } from "../world/collector-tables.ts";
import type { EventField, NewEvent } from "../world/new-event.ts";
import { CollectorRefusal } from "./codes.ts";
import { type Content, type Envelope, EnvelopeReader } from "./envelopes.ts";
import { FieldList } from "./field-list.ts";
import { JsonReader, JsonSyntaxError } from "./json-reader.ts";
import { findPairs } from "./pairs.ts";
import { findTimestamp, parseMicros } from "./timestamps.ts";

export interface Batch {
  events: NewEvent[];
  /** The answer to the request, sent after the events are stored. */
  refusal?: CollectorRefusal;
}

/** What all events of a request share. */
export interface BatchOptions {
  token: HecTokenRow;
  /** Query of the address: `host`, `source`, `sourcetype`, `index`, `time`, `auto_extract_timestamp`. */
  query: URLSearchParams;
  /** Names of the writable indexes. */
  indexes: ReadonlySet<string>;
  nowMs: number;
  zone: TimeZone;
}

type Defaults = Pick<NewEvent, "host" | "source" | "sourcetype" | "index" | "timeMicros">;

/** Reads the body of `/event`. An invalid event ends the batch: the events before it are stored. */
export function eventBatch(body: string, options: BatchOptions): Batch {
  const events: NewEvent[] = [];
  try {
    const defaults = readDefaults(options);
    const envelopes = new EnvelopeReader(body);
    let skipped = 0;
    for (let envelope = envelopes.next(); envelope; envelope = envelopes.next()) {
      const event = eventOf(envelope, envelopes.number - 1, defaults, options);
      if (event) events.push(event);
      else skipped++;
    }
    if (events.length + skipped === 0) throw new CollectorRefusal("noData");
    return { events };
  } catch (error) {
    if (error instanceof CollectorRefusal) return { events, refusal: error };
    throw error;
  }
}

/** Reads the body of `/raw`. */
export function rawBatch(body: string, options: BatchOptions): Batch {
  try {
    const defaults = readDefaults(options);
    checkIndex(defaults.index, options, undefined);
    const timestamps = options.query.has("time") ? "ignore" : "extract";
    const events = textEvents(body, defaults, options.zone, timestamps);
    if (events.length === 0) throw new CollectorRefusal("noData");
    return { events };
  } catch (error) {
    if (error instanceof CollectorRefusal) return { events: [], refusal: error };
    throw error;
  }
}

/**
 * Splits a text into events.
 * @param shared members of all events
 * @param zone of timestamps without an offset
 * @param timestamps `ignore`: all events have the shared time, whatever their text says
 */
export function textEvents(
  body: string,
  shared: Omit<NewEvent, "raw" | "fields">,
  zone: TimeZone,
  timestamps: "extract" | "ignore",
): NewEvent[] {
  return splitRawEvents(body, shared.sourcetype, zone).map(({ text, timeMicros }) => ({
    ...shared,
    raw: text,
    timeMicros: (timestamps === "extract" ? timeMicros : undefined) ?? shared.timeMicros,
    fields: fieldsOfText(text),
  }));
}

function readDefaults({ token, query, nowMs }: BatchOptions): Defaults {
  const time = query.get("time");
  const timeMicros = time === null ? Math.round(nowMs * 1000) : parseMicros(time);
  if (timeMicros === undefined) throw new CollectorRefusal("indexedFields");
  return {
    host: query.get("host") || token.host,
    source: query.get("source") || token.source || `http:${token.name}`,
    sourcetype: query.get("sourcetype") || token.sourcetype,
    index: query.get("index") || token.index,
    timeMicros,
  };
}

/** Makes an event of an envelope; `undefined` for an envelope with nothing but fields, which is skipped. */
function eventOf(
  { event, time, host, source, sourcetype, index, fields = [] }: Envelope,
  number: number,
  defaults: Defaults,
  options: BatchOptions,
): NewEvent | undefined {
  if (event === undefined) {
    if (fields.length > 0) return undefined;
    throw new CollectorRefusal("eventRequired", number);
  }
  const givenMicros = time === undefined || time.kind === "other" ? undefined : parseMicros(time.text);
  if (time !== undefined && givenMicros === undefined) throw new CollectorRefusal("indexedFields", number);
  // For a wrong index, splunkd reports the number of the following event.
  checkIndex(index ?? defaults.index, options, number + 1);
  return {
    raw: event.text,
    timeMicros: givenMicros ?? extractTime(event, options) ?? defaults.timeMicros,
    index: index ?? defaults.index,
    host: host ?? defaults.host,
    source: source ?? defaults.source,
    sourcetype: sourcetype ?? defaults.sourcetype,
    fields: [...fields, ...fieldsOf(event)],
  };
}

/** Finds the timestamp in an event's text, with `auto_extract_timestamp`. */
function extractTime({ text }: Content, { query, zone }: BatchOptions): number | undefined {
  if (query.get("auto_extract_timestamp") !== "true" || query.has("time")) return undefined;
  return findTimestamp(text, zone);
}

function checkIndex(index: string, { token, indexes }: BatchOptions, number: number | undefined): void {
  const allowed = token.indexes.length === 0 || token.indexes.includes(index) || index === token.index;
  if (!allowed || !indexes.has(index)) throw new CollectorRefusal("incorrectIndex", number);
}

function fieldsOf(event: Content): readonly EventField[] {
  return event.kind === "json" ? event.fields : fieldsOfText(event.text);
}

/** The fields of a text: the members of a JSON object, else its `key=value` pairs. */
function fieldsOfText(text: string): readonly EventField[] {
  return (text.trimStart().startsWith("{") ? membersOf(text) : undefined) ?? findPairs(text);
}

function membersOf(text: string): readonly EventField[] | undefined {
  const reader = new JsonReader(text);
  const fields = new FieldList();
  try {
    reader.value((name, value) => fields.add(name, value));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
  reader.skipSpace();
  return reader.next === "" ? fields.all() : undefined;
}

/** `MAX_EVENTS`: lines of one event. */
const MAX_LINES = 256;
/** Source types whose every line is an event: `SHOULD_LINEMERGE = false`. */
const UNMERGED: ReadonlySet<string> = new Set(["_json", "json_no_timestamp"]);

interface RawEvent {
  text: string;
  /** From the event's text; `undefined` without a timestamp. */
  timeMicros: number | undefined;
}

/** Splits the body of `/raw` into events. A line without a timestamp belongs to the event before it. */
function splitRawEvents(body: string, sourcetype: string, zone: TimeZone): RawEvent[] {
  const merged = !UNMERGED.has(sourcetype);
  const events: { lines: string[]; timeMicros: number | undefined }[] = [];
  for (const line of body.split(/\r\n|\n|\r/)) {
    const last = events.at(-1);
    if (line.trim() === "") {
      if (merged && last) last.lines.push(line);
      continue;
    }
    const timeMicros = findTimestamp(line, zone);
    const joins = merged && timeMicros === undefined && last && last.lines.length < MAX_LINES;
    if (joins) last.lines.push(line);
    else events.push({ lines: [line], timeMicros });
  }
  return events.map(({ lines, timeMicros }) => ({ text: lines.join("\n").trimEnd(), timeMicros }));
}
