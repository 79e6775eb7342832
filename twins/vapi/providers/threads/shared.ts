/** What several users in a process need once: made for the first of them, closed with the last. */
export interface Closable {
  close(): Promise<void>;
}

export interface Lease<Value> {
  readonly value: Value;
  /** Gives it back; the value is closed when nobody else has it. A second call does nothing. */
  release(): Promise<void>;
}

export class Shared<Value extends Closable> {
  readonly #held = new Map<string, { value: Value; users: number }>();

  /** The value for `key`, made by `create` if nobody has it yet. */
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
