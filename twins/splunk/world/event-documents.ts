/**
 * Makes documents of events. Fields are extracted when an event is indexed, not in each search, and become columns. A new field is
 * text, as all are in splunkd; an existing column becomes text with the first value that it cannot hold unchanged.
 */
import { brokenNameRule } from "@offhook/log-store/field-name";
import { type FieldCatalog, type FieldType, metadataFields } from "@offhook/log-store/fields";
import { type Coercion, coerce } from "@offhook/log-store/store/coerce";
import type { ColumnValue } from "@offhook/log-store/store/column-value";
import { MAX_FIELDS } from "@offhook/log-store/store/document-fitter";
import type { FieldValue, Shape, Shapes } from "@offhook/log-store/store/fitted-document";
import type { DocumentWrite } from "@offhook/log-store/store/log-store";
import type { NewEvent } from "./new-event.ts";

/** Fields of every event: its time, when it was indexed, its text and its origin. */
const TIME = "_time";
const INDEX_TIME = "_indextime";
const givenTexts = ["_raw", "host", "source", "sourcetype"] as const;

/** The year 0: the earliest time that the JSON of a document can express. */
const EARLIEST_MICROS = Date.parse("0000-01-01T00:00:00Z") * 1000;

type Origin = Pick<NewEvent, "host" | "source" | "sourcetype">;

/** Makes the documents of one write: JSON, and the column values that the store would read from it. */
export class EventDocuments {
  readonly #shapes: Shapes;
  /** Shape of the fields of every event. */
  readonly #baseShape: Shape;
  /** Whether the time column has dates; the dataset may have another type under the name. */
  readonly #hasTimes: boolean;
  readonly #columns: Columns;
  readonly #times = new IsoTimes();
  readonly #indexTime: bigint | string;
  /** The JSON before and after the time. */
  readonly #before: string;
  readonly #after: string;
  /** Origin of the previous event; consecutive events mostly share it. */
  #origin: Origin | undefined;
  #originJson = "";
  readonly #names = new Set<string>();

  constructor(fields: FieldCatalog, shapes: Shapes, nowMs: number) {
    const time = fields.get(TIME) ? TIME : (fields.timeField?.name ?? TIME);
    this.#hasTimes = (fields.get(time)?.type ?? "date") === "date";
    const columns: [string, FieldType][] = [
      [time, this.#hasTimes ? "date" : "text"],
      [INDEX_TIME, (fields.get(INDEX_TIME)?.type ?? "long") === "long" ? "long" : "text"],
      ...givenTexts.map((name): [string, FieldType] => [name, "text"]),
    ];
    this.#shapes = shapes;
    this.#baseShape = columns.reduce(
      (shape, [name, type]) => shapes.with(shape, { name, type }, "single"),
      shapes.none,
    );
    this.#columns = new Columns(fields, [TIME, "index", INDEX_TIME, ...givenTexts], time);
    const second = Math.floor(nowMs / 1000);
    this.#indexTime = columns[1]?.[1] === "long" ? BigInt(second) : String(second);
    // The JSON has the time under splunkd's name, whatever the dataset calls it: the event gets no extra field.
    this.#before = `{${JSON.stringify(TIME)}:"`;
    this.#after = `","${INDEX_TIME}":${second},"_raw":`;
  }

  toDocument(event: NewEvent): DocumentWrite {
    const { raw, timeMicros, index, host, source, sourcetype } = event;
    const time = this.#hasTimes ? this.#times.format(timeMicros) : String(timeMicros / 1e6);
    const moment = this.#hasTimes ? BigInt(timeMicros) : time;
    const values: FieldValue[] = [moment, this.#indexTime, raw, host, source, sourcetype];
    // One join at the end: V8 keeps a string that is built by `+=` as a rope.
    const json = [this.#before, time, this.#after, JSON.stringify(raw), this.#originOf(event)];
    let shape = this.#baseShape;
    this.#names.clear();
    for (const [name, texts] of event.fields) {
      if (texts.length === 0 || this.#names.has(name)) continue;
      const column = this.#columns.of(name);
      const fitted = column && fitTexts(column, texts);
      if (!fitted) continue;
      this.#names.add(name);
      json.push(column.json, JSON.stringify(fitted.texts.length === 1 ? fitted.texts[0] : fitted.texts));
      if (fitted.value === undefined || column.target === undefined) continue;
      const field = { name, type: column.target.type };
      shape = this.#shapes.with(shape, field, typeof fitted.value === "object" ? "multi" : "single");
      values.push(fitted.value);
    }
    json.push("}");
    const document = { index, source: json.join("") };
    if (timeMicros < EARLIEST_MICROS) return document;
    return { ...document, fitted: { fields: shape.fields, values } };
  }

  #originOf(event: Origin): string {
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
  /** `undefined`: the value is in the JSON only. */
  target: Coercion | undefined;
  /** The JSON before its value. */
  json: string;
}

/** The columns of event fields: existing ones, and those that these events add. */
class Columns {
  readonly #fields: FieldCatalog;
  /** `undefined`: the name cannot be a field. */
  readonly #columns = new Map<string, Column | undefined>();
  #room: number;

  /** @param time name of the time column, which has the time of the event and not a field of its text */
  constructor(fields: FieldCatalog, taken: readonly string[], time: string) {
    this.#fields = fields;
    this.#columns.set(time, { target: undefined, json: `,${JSON.stringify(time)}:` });
    this.#room = MAX_FIELDS - fields.size - taken.length;
    for (const name of taken) this.#columns.set(name, undefined);
  }

  of(name: string): Column | undefined {
    const known = this.#columns.get(name);
    if (known || this.#columns.has(name)) return known;
    const target = this.#targetOf(name);
    const column = target && { target, json: `,${JSON.stringify(name)}:` };
    this.#columns.set(name, column);
    return column;
  }

  #targetOf(name: string): Coercion | undefined {
    const known = this.#fields.get(name);
    if (known) return known;
    if (brokenNameRule(name) !== undefined || metadataFields.has(name) || this.#room <= 0) return undefined;
    this.#room--;
    return { type: "text" };
  }
}

/** A field of an event: the texts in its JSON, and the column value, if any. */
interface Fitted {
  texts: readonly string[];
  value?: FieldValue;
}

/** Fits texts to a column, which becomes text when it cannot hold them unchanged. `undefined`: the field has no value. */
function fitTexts(column: Column, texts: readonly string[]): Fitted | undefined {
  const { target } = column;
  if (target === undefined) return { texts };
  if (target.type !== "text") {
    const given = texts.filter((text) => text !== "");
    const values = coerceAll(target, given);
    if (values) return given.length === 0 ? undefined : { texts: given, ...columnValue(values) };
    column.target = { type: "text" };
  }
  return { texts, ...columnValue(texts) };
}

function columnValue(values: readonly ColumnValue[]): Pick<Fitted, "value"> {
  const [first] = values;
  if (first === undefined) return {};
  return { value: values.length === 1 ? first : values };
}

/** Converts texts to values of a column that is not text; `undefined` when it cannot hold them unchanged. */
function coerceAll(target: Coercion, texts: readonly string[]): ColumnValue[] | undefined {
  const { type } = target;
  const values: ColumnValue[] = [];
  for (const text of texts) {
    const coerced = coerce({ kind: "string", text, offset: 0 }, target);
    if (!("value" in coerced)) return undefined;
    if (coerced.value === undefined) continue;
    const isSame = type === "boolean" || type === "date" || Number(coerced.value) === Number(text);
    if (!isSame) return undefined;
    values.push(coerced.value);
  }
  return values;
}

/** Writes times as ISO 8601, and reuses the text of the second: consecutive events mostly share it. */
class IsoTimes {
  #second = Number.NaN;
  /** Up to the point behind the second. */
  #text = "";

  /** @param micros since 1970, in the years -271821 to 275760 */
  format(micros: number): string {
    const second = Math.floor(micros / 1_000_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toISOString().slice(0, -"000Z".length);
    }
    const rest = micros - second * 1_000_000;
    const ms = Math.floor(rest / 1000);
    const finer = rest - ms * 1000;
    return `${this.#text}${threeDigits(ms)}${finer === 0 ? "" : threeDigits(finer)}Z`;
  }
}

function threeDigits(number: number): string {
  return number < 10 ? `00${number}` : number < 100 ? `0${number}` : String(number);
}
