/** The collector's queue: requests that are accepted and not yet stored. */

export class Intake {
  #waitingBytes = 0;
  #closed = false;

  /** Whether the twin is stopping and refuses requests. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  /** How full the queue is; 1 and above is full. @param limitBytes `undefined`: no limit */
  fillRatio(limitBytes: number | undefined): number {
    if (limitBytes === undefined) return 0;
    return limitBytes === 0 ? 1 : this.#waitingBytes / limitBytes;
  }

  /** Counts a request's bytes as waiting while `store` runs. */
  async track<Result>(bytes: number, store: () => Promise<Result>): Promise<Result> {
    this.#waitingBytes += bytes;
    try {
      return await store();
    } finally {
      this.#waitingBytes -= bytes;
    }
  }
}
