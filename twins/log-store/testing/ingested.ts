/** Datasets made of a text, for tests: what `documents` holds, or why there are none. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type DuckDBConnection, DuckDBInstance, type Json } from "@duckdb/node-api";
import {
  type DatasetDescription,
  type DatasetProblem,
  DatasetRefusal,
  type DatasetSource,
} from "@offhook/platform/twin/dataset";
import { ingest } from "../ingest/ingest.ts";

export interface Ingested {
  description: DatasetDescription;
  /** The rows by field; integers and dates as text, lists as arrays. */
  rows: Record<string, Json>[];
  /** The events as JSON text. */
  sources: string[];
  ids: string[];
  indices: string[];
}

export type Text = string | Buffer | readonly Buffer[];

/** @throws what `ingest` throws; its folder is then empty of datasets */
export async function ingested(text: Text, given: Omit<DatasetSource, "bytes"> = {}): Promise<Ingested> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingested-"));
  try {
    const { file, description } = await ingest({ ...given, bytes: chunksOf(text) }, folder);
    const left = (await readdir(folder)).filter((name) => name !== path.basename(file));
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    return { description, ...(await contentOf(file)) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The types that were found, by column. */
export function typesOf({ description }: Ingested): Record<string, string> {
  return Object.fromEntries(
    description.columns.map(({ name, type, multi }) => [name, multi ? `${type}[]` : type]),
  );
}

/** The problems of a text that is refused. @throws Error when it is taken */
export async function refusalOf(
  text: Text,
  given: Omit<DatasetSource, "bytes"> = {},
): Promise<{ message: string; problems: readonly DatasetProblem[]; total: number }> {
  try {
    await ingested(text, given);
  } catch (error) {
    if (error instanceof DatasetRefusal) return error;
    throw error;
  }
  throw new Error("the text was taken");
}

async function* chunksOf(text: Text): AsyncGenerator<Buffer> {
  if (typeof text === "string") yield Buffer.from(text);
  else if (Buffer.isBuffer(text)) yield text;
  else yield* text;
}

async function contentOf(file: string): Promise<Omit<Ingested, "description">> {
  const database = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  const connection = await database.connect();
  try {
    // DuckDB knows no row without columns, but there are events without fields.
    const fields = "0 AS row, * EXCLUDE (_row, _id, _index, _version, _seq_no, _source)";
    const rows = (await select(connection, fields)).map(({ row: _row, ...values }) => values);
    const own = await select(connection, "_id, _index, _source");
    const values = (name: string) => own.map((row) => String(row[name]));
    return { rows, ids: values("_id"), indices: values("_index"), sources: values("_source") };
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

async function select(connection: DuckDBConnection, what: string): Promise<Record<string, Json>[]> {
  const reader = await connection.runAndReadAll(`SELECT ${what} FROM documents ORDER BY _row`);
  return reader.getRowObjectsJson();
}
