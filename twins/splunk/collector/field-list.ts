/** Fields with their values, in the order in which they were found. */
import type { EventField } from "../world/new-event.ts";

export class FieldList {
  readonly #fields = new Map<string, string[]>();

  /** Adds a value to a field, which may have others. */
  add(name: string, value: string): void {
    const values = this.#fields.get(name);
    if (values) values.push(value);
    else this.#fields.set(name, [value]);
  }

  all(): readonly EventField[] {
    return [...this.#fields];
  }
}
