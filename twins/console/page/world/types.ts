/** Worlds as the control plane describes them. */
import { controlPath } from "../api/client.ts";

export type Row = Record<string, unknown>;

export interface Column {
  name: string;
  /** In plain language: `text`, `integer`, `timestamp`, `json`, … */
  type: string;
  required: boolean;
  description: string;
  default?: unknown;
  allowed?: readonly unknown[];
  /** `table.column` */
  references?: string;
}

export interface Table {
  name: string;
  description: string;
  key: string;
  /** Of a composite key; empty: no columns identify a row. */
  key_columns?: readonly string[];
  columns: Column[];
}

export interface RowPage {
  rows: Row[];
  total: number;
}

/** The columns that identify a row; none in some tables. */
export function keyColumnsOf(table: Table): readonly string[] {
  return table.key_columns ?? [table.key];
}

/** The columns of a row's key with their values, for `where` of a write. */
export function keyOf(table: Table, row: Row): Row {
  return Object.fromEntries(keyColumnsOf(table).map((name) => [name, row[name]]));
}

/** A row's key as text, for the address and for lists. */
export function keyText(table: Table, row: Row): string {
  return JSON.stringify(keyColumnsOf(table).map((name) => row[name]));
}

/** The address of a twin's rows. */
export const dataPath = (sandbox: string, twin: string) => controlPath(sandbox, twin, "data");
