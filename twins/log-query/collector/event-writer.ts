/**
 * Writes events into the store. The fields of an event are columns: what its text holds is found once, here, and not again by each
 * search. A field that is new is text, as everything is to splunkd; a value that a column of another type cannot hold stays in the
 * event's text alone.
 */
import { brokenNameRule } from "../../datasets/field-name.ts";
import { type FieldCatalog, type FieldType, metadataFields } from "../../datasets/fields.ts";
import { MAX_FIELDS } from "../../datasets/store/batch.ts";
import { coerce } from "../../datasets/store/coerce.ts";
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
  const prefix = `{${JSON.stringify(time)}:"`;
  const indexed = `","_indextime":${Math.floor(nowMs / 1000)},"_raw":`;
  return events.map((event) => {
    const { raw, timeMicros, index, host, source, sourcetype } = event;
    let text = `${prefix}${isoOf(timeMicros)}${indexed}${JSON.stringify(raw)},"host":${JSON.stringify(host)}`;
    text += `,"source":${JSON.stringify(source)},"sourcetype":${JSON.stringify(sourcetype)}`;
    const names = new Set<string>();
    for (const [name, values] of event.fields) {
      if (names.has(name) || !columns.take(name, values)) continue;
      names.add(name);
      text += `,${JSON.stringify(name)}:${JSON.stringify(values.length === 1 ? values[0] : values)}`;
    }
    return { index, source: `${text}}` };
  });
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
