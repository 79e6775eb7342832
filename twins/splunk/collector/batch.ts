/** What a request comes to: the events that are stored of it, and why the rest is not. */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import type { HecTokenRow } from "../world/collector-tables.ts";
import type { EventField, NewEvent } from "../world/new-event.ts";
import { CollectorRefusal } from "./codes.ts";
import { type Content, type Envelope, EnvelopeReader } from "./envelopes.ts";
import { FieldList } from "./field-list.ts";
import { JsonReader, JsonSyntaxError } from "./json-reader.ts";
import { pairsOf } from "./pairs.ts";
import { rawEvents } from "./raw-events.ts";
import { findTimestamp, microsOfTime } from "./timestamps.ts";

export interface Batch {
  events: NewEvent[];
  /** What the request is answered with, after the events are stored. */
  refusal?: CollectorRefusal;
}

/** What holds for all events of a request. */
export interface BatchOptions {
  token: HecTokenRow;
  /** Of the address: `host`, `source`, `sourcetype`, `index`, `time`, `auto_extract_timestamp`. */
  query: URLSearchParams;
  /** Names of the indexes that can be written to. */
  indexes: ReadonlySet<string>;
  nowMs: number;
  zone: TimeZone;
}

type Defaults = Pick<NewEvent, "host" | "source" | "sourcetype" | "index" | "timeMicros">;

/** Reads the body of `/event`. What comes before an event that is wrong is stored, it and what follows is not. */
export function eventBatch(body: string, options: BatchOptions): Batch {
  const events: NewEvent[] = [];
  try {
    const defaults = defaultsOf(options);
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
    const defaults = defaultsOf(options);
    const named = options.query.has("time");
    checkIndex(defaults.index, options, undefined);
    const events = textEvents(body, defaults, options.zone, named);
    if (events.length === 0) throw new CollectorRefusal("noData");
    return { events };
  } catch (error) {
    if (error instanceof CollectorRefusal) return { events: [], refusal: error };
    throw error;
  }
}

/**
 * The events of a text, one after the other.
 * @param given what holds for all of them
 * @param timed whether that is so for their time, whatever their text says
 */
export function textEvents(
  body: string,
  given: Omit<NewEvent, "raw" | "fields">,
  zone: TimeZone,
  timed: boolean,
): NewEvent[] {
  return rawEvents(body, given.sourcetype, zone).map(({ text, timeMicros }) => ({
    ...given,
    raw: text,
    timeMicros: timed ? given.timeMicros : (timeMicros ?? given.timeMicros),
    fields: fieldsOfText(text),
  }));
}

function defaultsOf({ token, query, nowMs }: BatchOptions): Defaults {
  const time = query.get("time");
  const timeMicros = time === null ? Math.round(nowMs * 1000) : microsOfTime(time);
  if (timeMicros === undefined) throw new CollectorRefusal("indexedFields");
  return {
    host: query.get("host") || token.host,
    source: query.get("source") || token.source || `http:${token.name}`,
    sourcetype: query.get("sourcetype") || token.sourcetype,
    index: query.get("index") || token.index,
    timeMicros,
  };
}

/** @returns `undefined` for one that has fields alone, which is passed over */
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
  const told = time === undefined || time.kind === "other" ? undefined : microsOfTime(time.text);
  if (time !== undefined && told === undefined) throw new CollectorRefusal("indexedFields", number);
  // splunkd names the event after the one whose index is wrong.
  checkIndex(index ?? defaults.index, options, number + 1);
  return {
    raw: event.text,
    timeMicros: told ?? extracted(event, options) ?? defaults.timeMicros,
    index: index ?? defaults.index,
    host: host ?? defaults.host,
    source: source ?? defaults.source,
    sourcetype: sourcetype ?? defaults.sourcetype,
    fields: [...fields, ...fieldsOf(event)],
  };
}

/** The time that stands in the event, when the sender asks for it to be looked for. */
function extracted({ text }: Content, { query, zone }: BatchOptions): number | undefined {
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

/** A text that is a JSON object has its members as fields, any other its `key=value` pairs. */
function fieldsOfText(text: string): readonly EventField[] {
  return (text.trimStart().startsWith("{") ? membersOf(text) : undefined) ?? pairsOf(text);
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
