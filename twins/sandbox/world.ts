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
  /** Column that identifies a row; of a key of several columns the first. */
  key: string;
  /** The columns that identify a row together, when these are not just `key`; none when nothing does. */
  key_columns?: readonly string[];
  columns: ColumnDescription[];
}

export interface PageRequest {
  limit: number;
  offset: number;
  /** Equality filters, column to text as it came in the query string. */
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

/** A table that is none of this world's. */
export function unknownTable(table: string, known: Iterable<string>): Problem {
  return { table, rule: `no such table; this world has ${[...known].join(", ") || "none"}` };
}

/** The profile that every twin has: its own start. */
export const DEFAULT_PROFILE = "default";

/** A profile that the twin does not have. @param named those it has beside the default. */
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

/** A committed change, as `GET /sim/watch` streams it. */
export interface WorldChange {
  stateVersion: number;
  table: string;
  change: "insert" | "update" | "remove" | "reset";
  /** The row after the change; for `remove` the row that was there; absent for `reset`. */
  row?: Row;
}

export interface World {
  readonly stateVersion: number;
  schema(): Promise<TableDescription[]>;
  counts(): Promise<Record<string, number>>;
  /** @throws WorldRefusal for an unknown table or filter column. */
  rows(table: string, page: PageRequest): Promise<Page>;
  /** Adds rows of many tables at once; they may refer to one another. @throws WorldRefusal, and then nothing is written. */
  insert(data: Tables): Promise<Record<string, number>>;
  /** Changes the rows matching `where`; answers how many. @throws WorldRefusal */
  update(table: string, where: Row, changes: Row): Promise<number>;
  /** Removes the rows matching `where`; answers how many. @throws WorldRefusal */
  remove(table: string, where: Row): Promise<number>;
  /** The whole state. `load(await dump())` changes nothing. */
  dump(): Promise<Tables>;
  /** Replaces the whole state. @throws WorldRefusal, and then nothing is changed. */
  load(data: Tables): Promise<void>;
  /** Calls `listener` after each committed change until the returned function is called. */
  watch(listener: (change: WorldChange) => void): () => void;
}
