/**
 * Writes events into the store. The fields of an event are columns: what its text holds is found once, here, and not again by each
 * search. A field that is new is text, as everything is to splunkd; a value that a column of another type cannot hold stays in the
 * event's text alone.
 */
import { brokenNameRule } from "../../datasets/field-name.ts";
import { type FieldCatalog, type FieldType, metadataFields } from "../../datasets/fields.ts";
import { MAX_FIELDS } from "../../datasets/store/batch.ts";
import { coerce } from "../../datasets/store/coerce.ts";
import type { Leaf, LeafField } from "../../datasets/store/json-leaves.ts";
import type { DocumentWrite, LogStore } from "../../datasets/store/log-store.ts";

export interface NewEvent {
  /** Its text. */
  raw: string;
  /** When it happened, in microseconds since 1970. */
  timeMicros: number;
  index: string;
  host: string;
  source: string;
  sourcetype: string;
  /** Its other fields. A name that is there twice has its first values. */
  fields: readonly EventField[];
}

export type EventField = readonly [name: string, values: readonly string[]];

export class EventWriter {
  readonly #store: () => Promise<LogStore>;
  readonly #nowMs: () => number;

  constructor(store: () => Promise<LogStore>, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Stores the events, all of them or none; they are found by searches from then on. @throws QueueFull */
  async write(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const store = await this.#store();
    await store.exclusively((writer) => writer.write(documentsOf(events, writer.fields, this.#nowMs())));
  }
}

/** Fields that every event is given. */
const given = ["_time", "_raw", "_indextime", "host", "source", "sourcetype", "index"];

function documentsOf(events: readonly NewEvent[], fields: FieldCatalog, nowMs: number): DocumentWrite[] {
  const time = fields.get("_time") ? "_time" : (fields.timeField?.name ?? "_time");
  const columns = new Columns(fields, [...given, time]);
  const indexTime = String(Math.floor(nowMs / 1000));
  return events.map((event) => {
    const members = new Members();
    members.text(time, [isoOf(event.timeMicros)]);
    members.integer("_indextime", indexTime);
    members.text("_raw", [event.raw]);
    members.text("host", [event.host]);
    members.text("source", [event.source]);
    members.text("sourcetype", [event.sourcetype]);
    for (const [name, values] of event.fields) {
      if (!members.has(name) && columns.take(name, values)) members.text(name, values);
    }
    return { index: event.index, source: members.json, leaves: members.leaves };
  });
}

/** The members of one event: as JSON, and as what a store would read in it. */
class Members {
  readonly leaves: LeafField[] = [];
  readonly #names = new Set<string>();
  readonly #pieces: string[] = [];

  /** As text all at once: a text that is put together piece by piece is kept in pieces. */
  get json(): string {
    return `{${this.#pieces.join(",")}}`;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  integer(name: string, text: string): void {
    this.#add(name, text, [{ kind: "integer", text, offset: 0 }]);
  }

  text(name: string, values: readonly string[]): void {
    const json = JSON.stringify(values.length === 1 ? values[0] : values);
    this.#add(
      name,
      json,
      values.map((text) => ({ kind: "string", text, offset: 0 })),
    );
  }

  #add(name: string, json: string, leaves: Leaf[]): void {
    this.#names.add(name);
    this.#pieces.push(`${JSON.stringify(name)}:${json}`);
    this.leaves.push({ name, leaves });
  }
}

/** The columns that fields of events go into: those there are, and those that these events add. */
class Columns {
  readonly #fields: FieldCatalog;
  /** `undefined`: the name is no field's. */
  readonly #types = new Map<string, FieldType | undefined>();
  #room: number;

  constructor(fields: FieldCatalog, taken: readonly string[]) {
    this.#fields = fields;
    this.#room = MAX_FIELDS - fields.size - taken.length;
    for (const name of taken) this.#types.set(name, undefined);
  }

  /** Whether there is a column that holds these values as they are. */
  take(name: string, values: readonly string[]): boolean {
    if (values.length === 0) return false;
    if (!this.#types.has(name)) this.#types.set(name, this.#typeOf(name));
    const type = this.#types.get(name);
    return type === "text" || (type !== undefined && values.every((value) => holds(type, value)));
  }

  #typeOf(name: string): FieldType | undefined {
    const known = this.#fields.get(name);
    if (known) return known.type;
    if (brokenNameRule(name) !== undefined || metadataFields.has(name) || this.#room <= 0) return undefined;
    this.#room--;
    return "text";
  }
}

function holds(type: FieldType, text: string): boolean {
  const coerced = coerce({ kind: "string", text, offset: 0 }, type);
  if (!("value" in coerced) || coerced.value === undefined) return false;
  return type === "boolean" || type === "date" || Number(coerced.value) === Number(text);
}

function isoOf(micros: number): string {
  const ms = Math.floor(micros / 1000);
  const rest = micros - ms * 1000;
  const iso = new Date(ms).toISOString();
  return rest === 0 ? iso : `${iso.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}
