/** The calls of this process. */
import type { Call } from "./call.ts";

export class CallRegister {
  readonly #calls = new Map<string, Call>();
  #refusing = false;
  #whenIdle: (() => void)[] = [];

  /** Calls at the moment, those being torn down included. */
  get size(): number {
    return this.#calls.size;
  }

  /** Whether there are no new calls. */
  get refusing(): boolean {
    return this.#refusing;
  }

  get(id: string | undefined): Call | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** Runs a call; resolves at its end. */
  run(call: Call): Promise<void> {
    this.#calls.set(call.id, call);
    return call
      .run()
      .catch((error) => call.log.error({ err: error }, "the call failed in an unforeseen way"))
      .finally(() => {
        this.#calls.delete(call.id);
        if (this.#calls.size > 0) return;
        for (const tell of this.#whenIdle.splice(0)) tell();
      });
  }

  /** From here on there are no new calls. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Resolves as soon as there is no call. */
  idle(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * Waits for `refused`, with which new calls end to come, and for the running calls to end; ends them after the given
   * time, and waits for that.
   */
  async drain(timeoutMs: number, refused: Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.endAll(), timeoutMs);
    await refused;
    this.refuse();
    await this.idle();
    clearTimeout(timer);
  }

  /** Ends the running calls, as the agent shuts down. */
  endAll(): void {
    for (const call of this.#calls.values()) call.end({ kind: "shut-down" });
  }
}
