/**
 * A twin's state: named tables of rows behind one interface, whatever holds them (memory, DuckDB, Postgres).
 * Every write is all or nothing, and `stateVersion` grows with each one.
 */

export type Row = Record<string, unknown>;
export type Tables = Record<string, Row[]>;

/** One column in plain language; `type` is the word a person would use (`text`, `integer`, `timestamp`, `json`, …). */
export interface ColumnDescription {
  name: string;
  type: string;
  required: boolean;
  description: string;
  default?: unknown;
  allowed?: readonly unknown[];
  /** `table.column` this column's value must exist in. */
  references?: string;
}

export interface TableDescription {
  name: string;
  description: string;
  /** Column that identifies a row; of a composite key, the first. */
  key: string;
  /** The columns of a composite key; empty when no columns identify a row; absent: just `key`. */
  key_columns?: readonly string[];
  columns: ColumnDescription[];
}

export interface PageRequest {
  limit: number;
  offset: number;
  /** Equality filters: column to text from the query string. */
  where: Record<string, string>;
}

export interface Page {
  rows: Row[];
  total: number;
}

/** One thing that is wrong with a write. A refusal lists all of them. */
export interface Problem {
  table: string;
  /** Position in the array of the body; absent when the table itself is wrong. */
  row?: number;
  column?: string;
  value?: unknown;
  /** What was expected, in words. */
  rule: string;
}

/** The problem of an unknown table. */
export function unknownTable(table: string, known: Iterable<string>): Problem {
  return { table, rule: `no such table; this world has ${[...known].join(", ") || "none"}` };
}

/** The profile that every twin has: its initial state. */
export const DEFAULT_PROFILE = "default";

/** The refusal of an unknown profile. @param named the twin's profiles besides the default */
export function unknownProfile(profile: string, named: Iterable<string> = []): WorldRefusal {
  const known = [...new Set([DEFAULT_PROFILE, ...named])].join(", ");
  return new WorldRefusal([{ table: "*", value: profile, rule: `no such profile; this twin has ${known}` }]);
}

/** A write that was refused; nothing of it was stored. */
export class WorldRefusal extends Error {
  readonly problems: Problem[];
  constructor(problems: Problem[]) {
    super(problems.map((p) => `${[p.table, p.column].filter(Boolean).join(".")}: ${p.rule}`).join("; "));
    this.name = "WorldRefusal";
    this.problems = problems;
  }
}

/** The world's storage is unavailable at the moment. The message says what happened and what to do. */
export class WorldUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorldUnavailable";
  }
}

/** A committed change, as `GET /sim/watch` streams it. */
export interface WorldChange {
  stateVersion: number;
  table: string;
  change: "insert" | "update" | "remove" | "reset";
  /** The row after the change; for `remove` the row that was there; absent for `reset`. */
  row?: Row;
}

/** A row that is made when somebody looks at it. */
export interface DeferredRow {
  /** Memory it holds until then. */
  bytes: number;
  read(): Row;
}

export interface TracedChange extends Pick<WorldChange, "table" | "change"> {
  stateVersion: number;
  /** The columns of the row's key, where the world knows it. */
  key?: Row | undefined;
  /** The row after the change; for `remove` the row that was there. */
  row?: Readonly<Row> | DeferredRow | undefined;
  /** The row before an update, where the world knows it. */
  before?: Readonly<Row> | DeferredRow | undefined;
  /** Of a change without row: how many rows it is about, where that is known. */
  rows?: number | undefined;
}

export type TraceListener = (change: TracedChange) => void;

/** A row that differs from the baseline: the state at the start, or after the last reset. */
export interface RowDifference {
  table: string;
  difference: "added" | "changed" | "removed";
  key: Row;
  /** The row of the baseline; absent when it was added. */
  before?: Readonly<Row>;
  /** The row now; absent when it was removed. */
  after?: Readonly<Row>;
}

export type DifferenceCounts = Record<RowDifference["difference"], number>;

export interface WorldDifference {
  rows: RowDifference[];
  /** Tables with too many written rows to tell them one by one: how often rows were written. */
  uncompared: Record<string, DifferenceCounts>;
}

/** Why a world cannot say how it differs. */
export class DifferenceUnknown extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DifferenceUnknown";
  }
}

/** A change of one row, which a body names by its key. */
export interface RowChange {
  table: string;
  /** Position in the array of the body. */
  row: number;
  /** The columns of the row's key. */
  key: Row;
  changes: Row;
}

/** The problem of a change to a missing row. */
export function missingRow({ table, row, key }: Pick<RowChange, "table" | "row" | "key">): Problem {
  const [column = "", value] = Object.entries(key)[0] ?? [];
  return { table, row, column, value, rule: "there is no row with this key; POST adds one" };
}

/** The problem of a row that is changed twice. */
export function repeatedRow({ table, row, key }: Pick<RowChange, "table" | "row" | "key">): Problem {
  const [column = "", value] = Object.entries(key)[0] ?? [];
  return { table, row, column, value, rule: "an earlier row has the same key" };
}

/** Rows of one table, in the order of the table; called for each table in turn. */
export type TakeRows = (table: string, rows: readonly Row[]) => Promise<void>;

/** A world's state that can come back. */
export interface HeldState {
  /** Puts it back. @throws WorldRefusal, WorldUnavailable */
  restore(): Promise<void>;
  /** Gives up what was kept for it. */
  release(): Promise<void>;
}

export interface StateSource {
  tables: readonly string[];
  /** Rows of a table in batches; none for an unknown table. Elements that are not objects are included, for the table to refuse. */
  rows(table: string): AsyncIterable<readonly Row[]>;
}

export interface World {
  readonly stateVersion: number;
  schema(): Promise<TableDescription[]>;
  counts(): Promise<Record<string, number>>;
  /** @throws WorldRefusal for an unknown table or filter column. */
  rows(table: string, page: PageRequest): Promise<Page>;
  /** Adds rows of many tables at once; they may refer to one another. @throws WorldRefusal, and then nothing is written. */
  insert(data: Tables): Promise<Record<string, number>>;
  /** Changes the rows matching `where`. @returns how many. @throws WorldRefusal */
  update(table: string, where: Row, changes: Row): Promise<number>;
  /** Changes rows of many tables at once; each must exist. @throws WorldRefusal, and then nothing is changed. */
  updateEach(changes: readonly RowChange[]): Promise<void>;
  /** Removes the rows matching `where`. @returns how many. @throws WorldRefusal */
  remove(table: string, where: Row): Promise<number>;
  /** Removes the rows that `rows` finds with this filter. @returns how many. @throws WorldRefusal */
  removeFound(table: string, filter: PageRequest["where"]): Promise<number>;
  /** The whole state. `load(await dump())` changes nothing. */
  dump(): Promise<Tables>;
  /** Replaces the whole state. @throws WorldRefusal, and then nothing is changed. */
  load(data: Tables): Promise<void>;
  /** `dump` and `load` in batches, for a world that may be larger than memory. */
  dumpTo?(take: TakeRows): Promise<void>;
  loadFrom?(source: StateSource): Promise<void>;
  /**
   * Keeps the present state, or a later one, in place of writing it out; absent: it is dumped, and loaded again.
   * @param limitBytes of what is written out nevertheless @throws SpoolFull
   */
  hold?(limitBytes: number): Promise<HeldState>;
  /** Calls `listener` after each committed change until the returned function is called. */
  watch(listener: (change: WorldChange) => void): () => void;
  /**
   * As `watch`, for a log that is always on: a write has at most `MAX_TRACED_ROWS` changes with rows, a load is one change of
   * `EVERY_TABLE`, and nothing is opened or read for it. Absent: `watch` is cheap enough.
   */
  trace?(listener: TraceListener): () => void;
  /** Makes the present state the one that `difference` compares with. A load does so itself. */
  setBaseline?(): void;
  /** How the state differs from the baseline; absent: the world does not know. @throws DifferenceUnknown */
  difference?(): Promise<WorldDifference>;
}
