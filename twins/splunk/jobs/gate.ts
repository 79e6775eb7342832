/** Holds work back: `pass` waits while the gate is closed. */
export class Gate {
  #opened: Promise<void> | undefined;
  #open: (() => void) | undefined;

  get closed(): boolean {
    return this.#opened !== undefined;
  }

  close(): void {
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open?.();
    this.#opened = undefined;
    this.#open = undefined;
  }

  /** Resolves when the gate is open. */
  async pass(): Promise<void> {
    while (this.#opened !== undefined) await this.#opened;
  }
}
