/** The newest changes of all worlds of a sandbox, within a count and a byte budget. */
import { type Clock, wallTime } from "../base/clock.ts";
import { sizeOfJson } from "../base/json.ts";
import { Listeners } from "../base/listeners.ts";
import { EVERY_TABLE, isDeferred } from "../world/traced-change.ts";
import type { DeferredRow, Row, TracedChange, World } from "../world/world.ts";
import { Ring, type RingLimits } from "./ring.ts";

/** Limit of a row as it is kept and shown; larger columns are left out. */
export const MAX_ROW_BYTES = 16 * 1024;
/** Limit of a deferred row, which is bounded only when somebody looks at it. */
const MAX_DEFERRED_BYTES = 16 * MAX_ROW_BYTES;

export const changeLogLimits: RingLimits = { entries: 2000, bytes: 16 * 1024 * 1024 };

/** Resets of one twin within this time are one: a reset may be told table by table. */
const RESET_MS = 1000;
/** Rough size of an entry without its rows. */
const ENTRY_BYTES = 200;

export interface LoggedChange extends TracedChange {
  twin: string;
  /** Milliseconds since the Unix epoch, of the machine and of the sandbox's clock. */
  wallTimeMs: number;
  simulatedTimeMs: number;
  /** Columns that were left out because they are too large; `*`: all. */
  omitted: readonly string[];
  /** Estimated memory of the entry. */
  bytes: number;
}

export class ChangeLog {
  readonly #clock: Clock;
  readonly #ring = new Ring<LoggedChange>(changeLogLimits);
  readonly #listeners = new Listeners<LoggedChange>();
  readonly #newest = new Map<string, LoggedChange>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the changes of a twin's world from now on. */
  follow(twin: string, world: Pick<World, "watch" | "trace">): void {
    const add = (change: TracedChange) => this.#add(twin, change);
    world.trace?.(add) ?? world.watch(add);
  }

  /** Oldest first. */
  entries(): LoggedChange[] {
    return [...this.#ring.entries()];
  }

  /** How many entries were evicted. */
  get dropped(): number {
    return this.#ring.dropped;
  }

  /** Calls `listener` with each change until the returned function is called. */
  watch(listener: (change: LoggedChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  #add(twin: string, change: TracedChange): void {
    const entry = this.#entryOf(twin, change);
    if (!this.#joinResets(entry)) {
      this.#ring.add(entry);
      this.#newest.set(twin, entry);
    }
    this.#listeners.tell(entry);
  }

  #entryOf(
    twin: string,
    { stateVersion, table, change, key, row, before, rows }: TracedChange,
  ): LoggedChange {
    const boundedRow = boundRow(row);
    const boundedBefore = boundRow(before);
    return {
      twin,
      stateVersion,
      table,
      change,
      key,
      row: boundedRow.value,
      before: boundedBefore.value,
      rows,
      wallTimeMs: wallTime(),
      simulatedTimeMs: this.#clock.now(),
      omitted: [...boundedRow.omitted, ...boundedBefore.omitted],
      bytes: ENTRY_BYTES + boundedRow.bytes + boundedBefore.bytes,
    };
  }

  /** Whether a reset continues the twin's last one, which then stands for both. */
  #joinResets(entry: LoggedChange): boolean {
    const last = this.#newest.get(entry.twin);
    if (entry.change !== "reset" || last?.change !== "reset") return false;
    if (entry.wallTimeMs - last.wallTimeMs > RESET_MS) return false;
    if (entry.table !== last.table) last.table = EVERY_TABLE;
    last.stateVersion = entry.stateVersion;
    return true;
  }
}

interface BoundRow {
  value: Readonly<Row> | DeferredRow | undefined;
  omitted: readonly string[];
  bytes: number;
}

const noRow: BoundRow = { value: undefined, omitted: [], bytes: 0 };

function boundRow(row: TracedChange["row"]): BoundRow {
  if (row === undefined) return noRow;
  if (isDeferred(row)) {
    if (row.bytes > MAX_DEFERRED_BYTES) return { value: undefined, omitted: ["*"], bytes: 0 };
    return { value: row, omitted: noRow.omitted, bytes: row.bytes };
  }
  const bytes = sizeOfJson(row);
  if (bytes <= MAX_ROW_BYTES) return { value: row, omitted: noRow.omitted, bytes };
  return { ...fitRow(row), bytes: MAX_ROW_BYTES };
}

/** A row as it is shown: made if it was deferred, and without the columns that are too large. */
export function readRow(row: TracedChange["row"]): {
  row: Readonly<Row> | undefined;
  omitted: readonly string[];
} {
  if (row === undefined || !isDeferred(row)) return { row, omitted: noRow.omitted };
  const whole = row.read();
  if (sizeOfJson(whole) <= MAX_ROW_BYTES) return { row: whole, omitted: noRow.omitted };
  const { value, omitted } = fitRow(whole);
  return { row: value, omitted };
}

function fitRow(row: Readonly<Row>): { value: Row; omitted: string[] } {
  let room = MAX_ROW_BYTES;
  const omitted: string[] = [];
  const entries = Object.entries(row).filter(([column, value]) => {
    const bytes = column.length + sizeOfJson(value);
    const fits = bytes <= room;
    if (fits) room -= bytes;
    else omitted.push(column);
    return fits;
  });
  return { value: Object.fromEntries(entries), omitted };
}
