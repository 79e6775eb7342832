/** An armed fault: how often it was tried, how often it struck, and which requests wait for its removal. */

import { createRandom } from "../base/random.ts";
import type { Fault } from "./fault.ts";
import { type FaultSubject, matches } from "./subject.ts";

/** Default seed. */
const DEFAULT_SEED = 1;

export class ArmedFault<Spec extends Fault = Fault> {
  readonly id: string;
  readonly spec: Spec;
  readonly #random: () => number;
  readonly #waiting = new Set<() => void>();
  #seen = 0;
  #hits = 0;
  #removed = false;

  constructor(id: string, spec: Spec) {
    this.id = id;
    this.spec = spec;
    this.#random = createRandom(spec.seed ?? DEFAULT_SEED);
  }

  /** How many more requests it strikes; `null`: all until it is removed. */
  get remaining(): number | null {
    return this.spec.times === undefined ? null : this.spec.times - this.#hits;
  }

  get spent(): boolean {
    return this.remaining === 0;
  }

  /** How many requests wait for its removal. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Its name in the journal. */
  get label(): string {
    return `${this.id} ${this.spec.effect}`;
  }

  /** Whether it strikes this request. Counts it, and draws once for each request that matches, so that a seed is reproducible. */
  strikes(subject: FaultSubject): boolean {
    const { operation, match, after = 0, probability } = this.spec;
    if (this.spent || (operation !== undefined && operation !== subject.operation)) return false;
    if (match && !matches(match, subject)) return false;
    this.#seen += 1;
    if (this.#seen <= after) return false;
    if (probability !== undefined && this.#random() >= probability) return false;
    this.#hits += 1;
    return true;
  }

  /** Calls `release` when the fault is removed, at once if it already was. @returns a function that unsubscribes */
  onRemoved(release: () => void): () => void {
    if (this.#removed) {
      release();
      return () => undefined;
    }
    this.#waiting.add(release);
    return () => {
      this.#waiting.delete(release);
    };
  }

  remove(): void {
    this.#removed = true;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const release of waiting) release();
  }

  /** The fault as the control plane shows it. */
  describe() {
    const { remaining, spent } = this;
    return {
      id: this.id,
      ...this.spec,
      state: spent ? "spent" : "armed",
      seen: this.#seen,
      hits: this.#hits,
      remaining,
    };
  }
}
