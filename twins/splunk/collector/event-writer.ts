/** Writes events into the store. */
import { Shapes } from "@offhook/log-store/store/fitted";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { EventDocuments } from "./event-documents.ts";

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
  readonly #shapes = new Shapes();

  constructor(store: () => Promise<LogStore>, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Stores the events, all of them or none; they are found by searches from then on. @throws QueueFull */
  async write(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const store = await this.#store();
    await store.exclusively((writer) => {
      const documents = new EventDocuments(writer.fields, this.#shapes, this.#nowMs());
      return writer.write(events.map((event) => documents.of(event)));
    });
  }
}
