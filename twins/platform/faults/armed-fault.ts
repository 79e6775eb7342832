/** A fault that is armed: how often it was asked, how often it hit, and who waits for its end. */

import { createRandom } from "../base/random.ts";
import type { Fault } from "./fault.ts";
import { type FaultSubject, matches } from "./subject.ts";

/** Seed of a fault that names none. */
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

  /** How many more requests it hits; `null`: all until it is removed. */
  get remaining(): number | null {
    return this.spec.times === undefined ? null : this.spec.times - this.#hits;
  }

  get spent(): boolean {
    return this.remaining === 0;
  }

  /** How many wait for its end. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Names it in the journal. */
  get label(): string {
    return `${this.id} ${this.spec.effect}`;
  }

  /** Whether it hits this request. Counts it, and draws once for each that it could hit, so that a seed repeats. */
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

  /** Calls `release` when the fault is removed, at once if it was; the returned function takes that back. */
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

  /** As the control plane shows it. */
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
