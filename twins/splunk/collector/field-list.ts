/** Collects fields and their values in order of appearance. */
import type { EventField } from "../world/new-event.ts";

export class FieldList {
  readonly #fields = new Map<string, string[]>();

  /** Appends a value to a field. */
  add(name: string, value: string): void {
    const values = this.#fields.get(name);
    if (values) values.push(value);
    else this.#fields.set(name, [value]);
  }

  all(): readonly EventField[] {
    return [...this.#fields];
  }
}
