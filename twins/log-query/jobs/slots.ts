/** How many searches of a twin run at a time; the others wait for their turn, the more important ones first. */

interface Waiting {
  readonly priority: number;
  begin(): void;
}

export class Slots {
  readonly #limit: number;
  #running = 0;
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when the search may begin, to what gives its place back. @throws the reason of `signal` */
  async take(priority: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#running < this.#limit) this.#running++;
    else await this.#turn(priority, signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#pass();
    };
  }

  #turn(priority: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        priority,
        begin: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      const place = this.#waiting.findIndex((one) => one.priority < priority);
      this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, waiting);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next.begin();
    else this.#running--;
  }
}
