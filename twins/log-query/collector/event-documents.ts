/**
 * Makes documents of events. The fields of an event are columns: what its text holds is found once, when it is taken, and not again by
 * each search. A field that is new is text, as everything is to splunkd; a value that a column of another type cannot hold stays in the
 * event's text alone.
 */
import { brokenNameRule } from "../../datasets/field-name.ts";
import { type FieldCatalog, type FieldType, metadataFields } from "../../datasets/fields.ts";
import { MAX_FIELDS } from "../../datasets/store/batch.ts";
import { type ColumnValue, coerce } from "../../datasets/store/coerce.ts";
import type { FieldValue, Shape, Shapes } from "../../datasets/store/fitted.ts";
import type { DocumentWrite } from "../../datasets/store/log-store.ts";
import type { NewEvent } from "./event-writer.ts";
import { IsoTimes } from "./iso-times.ts";

/** What every event is given beside its time, with the types of columns that are made for it. */
const given = [
  ["_indextime", "long"],
  ["_raw", "text"],
  ["host", "text"],
  ["source", "text"],
  ["sourcetype", "text"],
] as const;

/** The year 0, from which on a document's text can say when. */
const EARLIEST_MICROS = Date.parse("0000-01-01T00:00:00Z") * 1000;

type Origin = Pick<NewEvent, "host" | "source" | "sourcetype">;

/** Of the events of one write: each as JSON, and as what a store would read in it. */
export class EventDocuments {
  readonly #shapes: Shapes;
  /** Of what every event is given. */
  readonly #given: Shape;
  /** Whether the columns that there are hold that as it is; where not, the store reads the JSON and says what is wrong. */
  readonly #isKnown: boolean;
  readonly #columns: Columns;
  readonly #times = new IsoTimes();
  readonly #indexTime: bigint;
  /** Of the JSON, what is before the time and behind it. */
  readonly #before: string;
  readonly #behind: string;
  /** Of the event before, which comes from the same place as a rule. */
  #origin: Origin | undefined;
  #originJson = "";
  readonly #names = new Set<string>();

  constructor(fields: FieldCatalog, shapes: Shapes, nowMs: number) {
    const time = fields.get("_time") ? "_time" : (fields.timeField?.name ?? "_time");
    const columns = [[time, "date"] as const, ...given];
    this.#shapes = shapes;
    this.#given = columns.reduce((shape, [name, type]) => shapes.with(shape, name, type, false), shapes.none);
    this.#isKnown = columns.every(([name, type]) => (fields.get(name)?.type ?? type) === type);
    this.#columns = new Columns(fields, ["_time", "index", ...columns.map(([name]) => name)]);
    const second = Math.floor(nowMs / 1000);
    this.#indexTime = BigInt(second);
    this.#before = `{${JSON.stringify(time)}:"`;
    this.#behind = `","_indextime":${second},"_raw":`;
  }

  of(event: NewEvent): DocumentWrite {
    const { raw, timeMicros, index, host, source, sourcetype } = event;
    const values: FieldValue[] = [BigInt(timeMicros), this.#indexTime, raw, host, source, sourcetype];
    const time = this.#times.of(timeMicros);
    // Put together all at once: a text to which pieces are added is kept in pieces.
    const json = [this.#before, time, this.#behind, JSON.stringify(raw), this.#jsonOf(event)];
    let shape = this.#given;
    this.#names.clear();
    for (const [name, texts] of event.fields) {
      if (texts.length === 0 || this.#names.has(name)) continue;
      const column = this.#columns.of(name);
      const value = column && heldBy(column.type, texts);
      if (column === undefined || value === undefined) continue;
      this.#names.add(name);
      shape = this.#shapes.with(shape, name, column.type, texts.length > 1);
      values.push(value);
      json.push(column.json, JSON.stringify(texts.length === 1 ? texts[0] : texts));
    }
    json.push("}");
    const document = { index, source: json.join("") };
    if (!this.#isKnown || timeMicros < EARLIEST_MICROS) return document;
    return { ...document, fitted: { fields: shape.fields, values } };
  }

  #jsonOf(event: Origin): string {
    const { host, source, sourcetype } = event;
    const last = this.#origin;
    if (last?.host !== host || last.source !== source || last.sourcetype !== sourcetype) {
      this.#origin = event;
      this.#originJson = `,"host":${JSON.stringify(host)},"source":${JSON.stringify(source)},"sourcetype":${JSON.stringify(sourcetype)}`;
    }
    return this.#originJson;
  }
}

interface Column {
  type: FieldType;
  /** What stands before its value in JSON. */
  json: string;
}

/** The columns that fields of events go into: those there are, and those that these events add. */
class Columns {
  readonly #fields: FieldCatalog;
  /** `undefined`: the name is no field's. */
  readonly #columns = new Map<string, Column | undefined>();
  #room: number;

  constructor(fields: FieldCatalog, taken: readonly string[]) {
    this.#fields = fields;
    this.#room = MAX_FIELDS - fields.size - taken.length;
    for (const name of taken) this.#columns.set(name, undefined);
  }

  of(name: string): Column | undefined {
    const known = this.#columns.get(name);
    if (known || this.#columns.has(name)) return known;
    const type = this.#typeOf(name);
    const column = type && { type, json: `,${JSON.stringify(name)}:` };
    this.#columns.set(name, column);
    return column;
  }

  #typeOf(name: string): FieldType | undefined {
    const known = this.#fields.get(name);
    if (known) return known.type;
    if (brokenNameRule(name) !== undefined || metadataFields.has(name) || this.#room <= 0) return undefined;
    this.#room--;
    return "text";
  }
}

/** What a column holds of these texts; `undefined` when it cannot hold them as they are. */
function heldBy(type: FieldType, texts: readonly string[]): FieldValue | undefined {
  if (type === "text") return texts.length === 1 ? texts[0] : texts;
  const values: ColumnValue[] = [];
  for (const text of texts) {
    const coerced = coerce({ kind: "string", text, offset: 0 }, type);
    if (!("value" in coerced) || coerced.value === undefined) return undefined;
    const isSame = type === "boolean" || type === "date" || Number(coerced.value) === Number(text);
    if (!isSame) return undefined;
    values.push(coerced.value);
  }
  return values.length === 1 ? values[0] : values;
}
