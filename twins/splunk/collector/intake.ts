/** What has been sent to the event collector and is not stored yet: its queue. */

export class Intake {
  #waitingBytes = 0;
  #closed = false;

  /** Whether the twin is stopping: nothing more is taken. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  /** How full the queue is: 1 and more is full. @param limitBytes `undefined`: it has no end */
  share(limitBytes: number | undefined): number {
    if (limitBytes === undefined) return 0;
    return limitBytes === 0 ? 1 : this.#waitingBytes / limitBytes;
  }

  /** Does the work that stores a request, whose bytes wait until then. */
  async during<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    this.#waitingBytes += bytes;
    try {
      return await work();
    } finally {
      this.#waitingBytes -= bytes;
    }
  }
}
