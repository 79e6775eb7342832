/**
 * Makes documents of events. The fields of an event are columns: what its text holds is found once, when it is taken, and not again by
 * each search. A field that is new is text, as everything is to splunkd; and a column becomes text with the first value that it cannot
 * hold as it is.
 */
import { brokenNameRule } from "@offhook/log-store/field-name";
import { type FieldCatalog, type FieldType, metadataFields } from "@offhook/log-store/fields";
import { type Coercion, coerce } from "@offhook/log-store/store/coerce";
import type { ColumnValue } from "@offhook/log-store/store/column-value";
import { MAX_FIELDS } from "@offhook/log-store/store/document-fitter";
import type { FieldValue, Shape, Shapes } from "@offhook/log-store/store/fitted-document";
import type { DocumentWrite } from "@offhook/log-store/store/log-store";
import type { NewEvent } from "./new-event.ts";

/** The names under which an event has its time, when it was indexed, its text and where it comes from. */
const TIME = "_time";
const INDEX_TIME = "_indextime";
const givenTexts = ["_raw", "host", "source", "sourcetype"] as const;

/** The year 0, from which on a document's text can say when. */
const EARLIEST_MICROS = Date.parse("0000-01-01T00:00:00Z") * 1000;

type Origin = Pick<NewEvent, "host" | "source" | "sourcetype">;

/** Of the events of one write: each as JSON, and as what a store would read in it. */
export class EventDocuments {
  readonly #shapes: Shapes;
  /** Of what every event is given. */
  readonly #given: Shape;
  /** The column of times is one, and not of something else that an event of the dataset has under that name. */
  readonly #hasTimes: boolean;
  readonly #columns: Columns;
  readonly #times = new IsoTimes();
  readonly #indexTime: bigint | string;
  /** Of the JSON, what is before the time and behind it. */
  readonly #before: string;
  readonly #behind: string;
  /** Of the event before, which comes from the same place as a rule. */
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
    this.#given = columns.reduce(
      (shape, [name, type]) => shapes.with(shape, { name, type }, false),
      shapes.none,
    );
    this.#columns = new Columns(fields, [TIME, "index", INDEX_TIME, ...givenTexts], time);
    const second = Math.floor(nowMs / 1000);
    this.#indexTime = columns[1]?.[1] === "long" ? BigInt(second) : String(second);
    // Whatever the dataset calls its time, the event has it under splunkd's name: a field is not made up for it.
    this.#before = `{${JSON.stringify(TIME)}:"`;
    this.#behind = `","${INDEX_TIME}":${second},"_raw":`;
  }

  of(event: NewEvent): DocumentWrite {
    const { raw, timeMicros, index, host, source, sourcetype } = event;
    const time = this.#hasTimes ? this.#times.format(timeMicros) : String(timeMicros / 1e6);
    const moment = this.#hasTimes ? BigInt(timeMicros) : time;
    const values: FieldValue[] = [moment, this.#indexTime, raw, host, source, sourcetype];
    // Put together all at once: a text to which pieces are added is kept in pieces.
    const json = [this.#before, time, this.#behind, JSON.stringify(raw), this.#jsonOf(event)];
    let shape = this.#given;
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
      shape = this.#shapes.with(shape, field, typeof fitted.value === "object");
      values.push(fitted.value);
    }
    json.push("}");
    const document = { index, source: json.join("") };
    if (timeMicros < EARLIEST_MICROS) return document;
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
  /** `undefined`: the value stands in the JSON alone. */
  target: Coercion | undefined;
  /** What stands before its value in JSON. */
  json: string;
}

/** The columns that fields of events go into: those there are, and those that these events add. */
class Columns {
  readonly #fields: FieldCatalog;
  /** `undefined`: the name is no field's. */
  readonly #columns = new Map<string, Column | undefined>();
  #room: number;

  /** @param time whose column has the time that the event was sent with, whatever the event has under this name */
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

/** What an event has in a column: the texts that its JSON has, and the value, where there is one. */
interface Fitted {
  texts: readonly string[];
  value?: FieldValue;
}

/** Fits texts to a column, which becomes one of texts when it cannot hold them as they are. `undefined`: it says nothing of the event. */
function fitTexts(column: Column, texts: readonly string[]): Fitted | undefined {
  const { target } = column;
  if (target === undefined) return { texts };
  if (target.type !== "text") {
    const given = texts.filter((text) => text !== "");
    const held = heldBy(target, given);
    if (held) return given.length === 0 ? undefined : { texts: given, ...heldValue(held) };
    column.target = { type: "text" };
  }
  return { texts, ...heldValue(texts) };
}

function heldValue(values: readonly ColumnValue[]): Pick<Fitted, "value"> {
  const [first] = values;
  if (first === undefined) return {};
  return { value: values.length === 1 ? first : values };
}

/** The values that a column of another type than text has of these; `undefined` when it cannot hold them as they are. */
function heldBy(target: Coercion, texts: readonly string[]): ColumnValue[] | undefined {
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
