/** Writes events into the store. */
import { Shapes } from "@offhook/log-store/store/fitted-document";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { EventDocuments } from "./event-documents.ts";
import type { NewEvent } from "./new-event.ts";

export class EventWriter {
  readonly #store: () => Promise<LogStore>;
  readonly #nowMs: () => number;
  readonly #shapes = new Shapes();

  constructor(store: () => Promise<LogStore>, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Stores all events or none; searches find them from then on. @throws QueueFull */
  async write(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const store = await this.#store();
    await store.exclusively((writer) => {
      const documents = new EventDocuments(writer.fields, this.#shapes, this.#nowMs());
      return writer.write(events.map((event) => documents.toDocument(event)));
    });
  }
}
