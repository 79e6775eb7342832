/** How many searches of a twin run at a time; the others wait for their turn, the more important ones first. */

/** Who wants to run. */
export interface Claim {
  /** The higher the earlier; it may change while the search waits. */
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
  readonly #runningOf = new Map<string, number>();
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many searches of somebody run. */
  runningOf(owner: string): number {
    return this.#runningOf.get(owner) ?? 0;
  }

  /** Resolves when the search may begin, to what gives its place back. @throws the reason of `signal` */
  async take(claim: Claim, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasRoom(claim)) this.#begin(claim);
    else await this.#turn(claim, signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#end(claim);
    };
  }

  #hasRoom({ owner, quota }: Claim): boolean {
    return this.#running < this.#limit && (quota === 0 || this.runningOf(owner) < quota);
  }

  #begin({ owner }: Claim): void {
    this.#running++;
    this.#runningOf.set(owner, this.runningOf(owner) + 1);
  }

  #turn(claim: Claim, signal: AbortSignal): Promise<void> {
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

  #end({ owner }: Claim): void {
    this.#running--;
    const left = this.runningOf(owner) - 1;
    if (left > 0) this.#runningOf.set(owner, left);
    else this.#runningOf.delete(owner);
    const next = this.#waiting
      .filter(({ claim }) => this.#hasRoom(claim))
      .reduce<Waiting | undefined>((a, b) => (a && a.claim.priority >= b.claim.priority ? a : b), undefined);
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#begin(next.claim);
    next.begin();
  }
}
