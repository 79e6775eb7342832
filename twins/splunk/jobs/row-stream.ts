/** Streams the rows of a search to one reader, slice by slice, with back-pressure: the search waits for the reader. */
import { columnOf, outputsOf, project, type Relation } from "../spl/relation/relation.ts";
import type { Slice, SliceRange } from "./result-slices.ts";

/** Longest wait for the reader, since the search holds its slot meanwhile. */
const MAX_WAIT_MS = 600_000;

export class RowStream {
  readonly range: SliceRange;
  /** Number of rows written. */
  rowCount = 0;
  /** Resolves with the first slice, or at the end when there is none. */
  readonly started: Promise<void>;
  #start = () => {};
  #hasStarted = false;
  #hasEnded = false;
  readonly #onlyField: string | undefined;
  /** Written and not yet read. */
  #slice: { slice: Slice; read(): void } | undefined;
  /** Wakes the reader. */
  #wake: (() => void) | undefined;

  /** @param onlyField the one field to send of rows that have it; `undefined`: all fields */
  constructor(range: SliceRange, onlyField: string | undefined) {
    this.range = range;
    this.#onlyField = onlyField;
    this.started = new Promise((resolve) => {
      this.#start = resolve;
    });
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Keeps only the fields to send. */
  selectFields(relation: Relation): Relation {
    if (this.#onlyField === undefined || columnOf(relation, this.#onlyField) === undefined) return relation;
    return project(
      relation,
      outputsOf(relation).filter(({ name }) => name === this.#onlyField),
    );
  }

  /**
   * Writes a slice; resolves when it is read.
   * @throws the reason of `signal`; Error when the reader takes longer than `MAX_WAIT_MS`
   */
  async write(slice: Slice, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasEnded) return;
    this.rowCount += slice.rows.length;
    this.#hasStarted = true;
    this.#start();
    let timer: NodeJS.Timeout | undefined;
    let leave = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        leave = () => reject(signal?.reason);
        signal?.addEventListener("abort", leave, { once: true });
        timer = setTimeout(() => reject(new Error("its rows were not read in time")), MAX_WAIT_MS);
        this.#slice = { slice, read: resolve };
        this.#wake?.();
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Reads the next slice; `undefined` at the end. */
  async read(): Promise<Slice | undefined> {
    if (this.#slice === undefined && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const next = this.#slice;
    this.#slice = undefined;
    next?.read();
    return next?.slice;
  }

  /** Ends the stream. A written slice can still be read; its writer no longer waits. */
  end(): void {
    this.#hasEnded = true;
    this.#start();
    this.#slice?.read();
    this.#wake?.();
  }
}
