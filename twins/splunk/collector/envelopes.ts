/** Reads the body of `/event`: concatenated objects, or lists of objects. */

import type { EventField } from "../world/new-event.ts";
import { CollectorRefusal } from "./codes.ts";
import { FieldList } from "./field-list.ts";
import { JsonReader, JsonSyntaxError } from "./json-reader.ts";

/** One event as sent. */
export interface Envelope {
  event: Content | undefined;
  time: Scalar | undefined;
  host: string | undefined;
  source: string | undefined;
  sourcetype: string | undefined;
  index: string | undefined;
  fields: readonly EventField[] | undefined;
}

export interface Scalar {
  kind: "text" | "number" | "other";
  text: string;
}

/** Content of an event: a string, or JSON text with its fields. */
export type Content =
  | { kind: "text"; text: string }
  | { kind: "json"; text: string; fields: readonly EventField[] };

export class EnvelopeReader {
  readonly #reader: JsonReader;
  #inList = false;
  /** Set at an unknown member: the rest of the body is skipped, as splunkd does. */
  #ended = false;
  /** Number of the next object, from 0. */
  number = 0;

  constructor(text: string) {
    this.#reader = new JsonReader(text);
  }

  /** Reads the next envelope; `undefined` after the last. @throws CollectorRefusal with the number of the invalid one */
  next(): Envelope | undefined {
    try {
      return this.#advance() ? this.#envelope() : undefined;
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw new CollectorRefusal("invalidFormat", this.number);
      throw error;
    }
  }

  /** Moves to the next object. @returns whether there is one */
  #advance(): boolean {
    const reader = this.#reader;
    if (this.#ended) return false;
    reader.skipSpace();
    if (this.#inList) {
      if (reader.take(",")) {
        reader.skipSpace();
        return true;
      }
      reader.expect("]");
      this.#inList = false;
      reader.skipSpace();
    }
    while (reader.take("[")) {
      reader.skipSpace();
      this.#inList = !reader.take("]");
      if (this.#inList) return true;
      reader.skipSpace();
    }
    return reader.next !== "";
  }

  #envelope(): Envelope | undefined {
    const reader = this.#reader;
    reader.expect("{");
    const envelope: Envelope = {
      event: undefined,
      time: undefined,
      host: undefined,
      source: undefined,
      sourcetype: undefined,
      index: undefined,
      fields: undefined,
    };
    reader.skipSpace();
    if (!reader.take("}")) {
      do {
        reader.skipSpace();
        const name = reader.string();
        reader.skipSpace();
        reader.expect(":");
        reader.skipSpace();
        if (!this.#member(envelope, name)) {
          this.#ended = true;
          return undefined;
        }
        reader.skipSpace();
      } while (reader.take(","));
      reader.expect("}");
    }
    this.number++;
    return envelope;
  }

  /** Reads a member's value. @returns whether the member is known */
  #member(envelope: Envelope, name: string): boolean {
    switch (name) {
      case "event":
        envelope.event = this.#content();
        return true;
      case "time":
        envelope.time = this.#scalar();
        return true;
      case "host":
      case "source":
      case "sourcetype":
      case "index":
        envelope[name] = this.#text();
        return true;
      case "fields":
        envelope.fields = this.#fields();
        return true;
      default:
        return false;
    }
  }

  #content(): Content {
    const reader = this.#reader;
    const from = reader.at;
    switch (reader.next) {
      case '"': {
        const text = reader.string();
        if (text.trim() === "") throw new CollectorRefusal("eventBlank", this.number);
        return { kind: "text", text };
      }
      case "n":
      case "f":
      case "t":
        // null and booleans are not events.
        throw new JsonSyntaxError();
      default: {
        const fields = new FieldList();
        reader.value((name, text) => fields.add(name, text));
        return { kind: "json", text: reader.text.slice(from, reader.at), fields: fields.all() };
      }
    }
  }

  #scalar(): Scalar | undefined {
    const reader = this.#reader;
    if (reader.next === '"') return { kind: "text", text: reader.string() };
    const from = reader.at;
    reader.value();
    const text = reader.text.slice(from, reader.at);
    if (text === "null") return undefined;
    return { kind: /^[-\d]/.test(text) ? "number" : "other", text };
  }

  /** Reads a text member; null and empty texts count as absent. */
  #text(): string | undefined {
    const scalar = this.#scalar();
    if (scalar?.kind === "other") throw new JsonSyntaxError();
    return scalar?.text || undefined;
  }

  /** Reads `fields`, whose values are scalars or lists of scalars. */
  #fields(): readonly EventField[] | undefined {
    const reader = this.#reader;
    if (reader.next === "n") {
      reader.value();
      return undefined;
    }
    const fields = new FieldList();
    let flat = reader.next === "{";
    if (!flat) reader.value();
    else {
      reader.at++;
      reader.skipSpace();
      if (reader.take("}")) return [];
      do {
        reader.skipSpace();
        const name = reader.string();
        reader.skipSpace();
        reader.expect(":");
        reader.skipSpace();
        const isObject = reader.next === "{";
        reader.value((path, text) => {
          flat &&= path === name;
          fields.add(name, text);
        }, name);
        flat &&= !isObject;
        reader.skipSpace();
      } while (reader.take(","));
      reader.expect("}");
    }
    if (!flat) throw new CollectorRefusal("indexedFields", this.number);
    return fields.all();
  }
}
