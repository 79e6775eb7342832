/** Reference-counted values, shared within a process: created for the first user, closed with the last. */
export interface Closable {
  close(): Promise<void>;
}

export interface Lease<Value> {
  readonly value: Value;
  /** Releases the lease; the last release closes the value. A second call does nothing. */
  release(): Promise<void>;
}

export class Shared<Value extends Closable> {
  readonly #held = new Map<string, { value: Value; users: number }>();

  /** Leases the value of `key`, created by `create` for the first user. */
  lease(key: string, create: () => Value): Lease<Value> {
    const entry = this.#held.get(key) ?? { value: create(), users: 0 };
    this.#held.set(key, entry);
    entry.users += 1;
    let released = false;
    return {
      value: entry.value,
      release: async () => {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        this.#held.delete(key);
        await entry.value.close();
      },
    };
  }
}
