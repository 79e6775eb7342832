/** Limits how many searches run at a time; the others wait, the highest priority first. */

/** A search that asks for a slot. */
export interface Claim {
  /** Higher ones start first; it may change while the search waits. */
  readonly priority: number;
  readonly owner: string;
  /** Searches that the owner may run at a time; 0: any number. */
  readonly quota: number;
}

interface Waiting {
  readonly claim: Claim;
  begin(): void;
}

export class Slots {
  readonly #limit: number;
  #running = 0;
  readonly #countRunning = new Map<string, number>();
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Number of running searches of an owner. */
  countRunning(owner: string): number {
    return this.#countRunning.get(owner) ?? 0;
  }

  /** Acquires a slot; resolves to its release function. @throws the reason of `signal` */
  async acquire(claim: Claim, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasRoom(claim)) this.#begin(claim);
    else await this.#wait(claim, signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(claim);
    };
  }

  #hasRoom({ owner, quota }: Claim): boolean {
    return this.#running < this.#limit && (quota === 0 || this.countRunning(owner) < quota);
  }

  #begin({ owner }: Claim): void {
    this.#running++;
    this.#countRunning.set(owner, this.countRunning(owner) + 1);
  }

  #wait(claim: Claim, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        claim,
        begin: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #release({ owner }: Claim): void {
    this.#running--;
    const left = this.countRunning(owner) - 1;
    if (left > 0) this.#countRunning.set(owner, left);
    else this.#countRunning.delete(owner);
    const next = this.#waiting
      .filter(({ claim }) => this.#hasRoom(claim))
      .reduce<Waiting | undefined>((a, b) => (a && a.claim.priority >= b.claim.priority ? a : b), undefined);
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#begin(next.claim);
    next.begin();
  }
}
