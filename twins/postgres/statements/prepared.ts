/** What a connection has prepared, by name; bounded, the oldest goes first. */
import type { ShownParameters } from "./parameter-values.ts";

/** About how much is remembered for one connection. */
const MAX_BYTES = 512 * 1024;
const ENTRY_BYTES = 200;

export interface Prepared {
  text: string;
  secretParameters: ReadonlySet<number>;
  /** Types of its parameters; 0 where the client left it to the server, until the server has said. */
  oids: number[];
}

export interface Bound {
  statement: Prepared | undefined;
  parameters: ShownParameters;
}

export class BoundedNames<Value> {
  readonly #entries = new Map<string, { value: Value; bytes: number }>();
  #bytes = 0;

  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  set(name: string, value: Value, length: number): void {
    this.delete(name);
    const bytes = ENTRY_BYTES + length * 2;
    this.#entries.set(name, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES || oldest === name) return;
      this.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}
