/** Where the rows of a search go that are not kept: to one who takes them slice by slice, and for whom the search waits. */
import { columnOf, outputsOf, project, type Relation } from "../spl/relation/relation.ts";
import type { Slice, SlicedPart } from "./result-slices.ts";

/** The longest that the search waits until somebody takes a slice: it holds a place among those that run. */
const LONGEST_WAIT_MS = 600_000;

export class RowOutlet {
  readonly part: SlicedPart;
  /** How many rows it was given. */
  given = 0;
  /** Resolves when there is something to take, or there never will be. */
  readonly begun: Promise<void>;
  #begin = () => {};
  #hasBegun = false;
  #hasEnded = false;
  readonly #only: string | undefined;
  /** Given, and not taken. */
  #slice: { slice: Slice; taken(): void } | undefined;
  /** Who waits for the next. */
  #wanted: (() => void) | undefined;

  /** @param only the field that is shown of rows that have it, if it is one alone */
  constructor(part: SlicedPart, only: string | undefined) {
    this.part = part;
    this.#only = only;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** Whether it was given anything. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The rows with the fields that are to go. */
  shown(relation: Relation): Relation {
    if (this.#only === undefined || columnOf(relation, this.#only) === undefined) return relation;
    return project(
      relation,
      outputsOf(relation).filter(({ name }) => name === this.#only),
    );
  }

  /**
   * Resolves when the slice has been taken; who gives may make the next one then.
   * @throws the reason of `signal`, and when nobody takes it for long
   */
  async give(slice: Slice, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasEnded) return;
    this.given += slice.rows.length;
    this.#hasBegun = true;
    this.#begin();
    let timer: NodeJS.Timeout | undefined;
    let leave = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        leave = () => reject(signal?.reason);
        signal?.addEventListener("abort", leave, { once: true });
        timer = setTimeout(() => reject(new Error("nobody has taken its rows for long")), LONGEST_WAIT_MS);
        this.#slice = { slice, taken: resolve };
        this.#wanted?.();
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }

  /** @returns `undefined` when there are no more */
  async take(): Promise<Slice | undefined> {
    if (this.#slice === undefined && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wanted = resolve;
      });
    }
    const next = this.#slice;
    this.#slice = undefined;
    next?.taken();
    return next?.slice;
  }

  /** Nothing is given any more. What was given can still be taken, but nobody waits for that. */
  end(): void {
    this.#hasEnded = true;
    this.#begin();
    this.#slice?.taken();
    this.#wanted?.();
  }
}
