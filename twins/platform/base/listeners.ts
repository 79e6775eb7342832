/** Functions that are called with every event of one kind. */
export class Listeners<Event> {
  readonly #members = new Set<(event: Event) => void>();

  get size(): number {
    return this.#members.size;
  }

  /** Calls `listener` with each event until the returned function is called. */
  add(listener: (event: Event) => void): () => void {
    this.#members.add(listener);
    return () => {
      this.#members.delete(listener);
    };
  }

  /** Calls all that listen at this moment; those that one of them adds hear of the next event first. */
  tell(event: Event): void {
    for (const listener of [...this.#members]) listener(event);
  }
}
