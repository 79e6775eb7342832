/** Builds a dataset: a file becomes a database with the tables of a store, and a description. */
import { rm } from "node:fs/promises";
import path from "node:path";
import { wallTime } from "@offhook/platform/base/clock";
import type { DatasetDescription, DatasetSource } from "@offhook/platform/twin/dataset";
import type { TextIndex } from "../fields.ts";
import { countOf, type ParsedFile, parseFile } from "./parse-file.ts";
import { closeStagingDatabase, loadStaged, openStagingDatabase } from "./staging-database.ts";
import { StagingFile } from "./staging-file.ts";
import { writeDocuments } from "./write-documents.ts";

export interface BuiltDataset {
  /** The database, in the folder. */
  file: string;
  description: DatasetDescription;
}

/**
 * @param folder empty; the caller removes it in any case
 * @throws DatasetRefusal with the problems of the file, DatasetTooLarge, the signal's reason, or the source's error
 */
export async function ingest(
  source: DatasetSource,
  folder: string,
  signal?: AbortSignal,
  textIndex: TextIndex = "fields",
): Promise<BuiltDataset> {
  const out = await StagingFile.create(path.join(folder, "staged"));
  const parsed = await parseFile(source, out, signal).finally(() => out.close());
  source.onProgress?.(`${countOf(out)} read, their types and words follow`);
  return serialize(() => build(source, folder, out, parsed, { signal, textIndex }));
}

async function build(
  { fileName }: DatasetSource,
  folder: string,
  out: StagingFile,
  parsed: ParsedFile,
  { signal, textIndex }: { signal: AbortSignal | undefined; textIndex: TextIndex },
): Promise<BuiltDataset> {
  signal?.throwIfAborted();
  const file = path.join(folder, "dataset.duckdb");
  const database = await openStagingDatabase(folder, file);
  const { connection } = database;
  const interrupt = () => connection.interrupt();
  signal?.addEventListener("abort", interrupt, { once: true });
  try {
    await loadStaged(connection, out, parsed.reader);
    await rm(out.path);
    signal?.throwIfAborted();
    const { rows, columns, timeField, timeRange, sample } = await writeDocuments(
      connection,
      parsed.reader,
      out.rows,
      textIndex,
    );
    const { format, sha256, bytes } = parsed;
    const description = {
      file_name: fileName ?? null,
      format,
      sha256,
      bytes,
      created_at: new Date(wallTime()).toISOString(),
      rows,
      columns,
      time_field: timeField,
      time_range: timeRange,
      sample,
    };
    return { file, description };
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", interrupt);
    await closeStagingDatabase(database);
  }
}

let lastBuild: Promise<unknown> = Promise.resolve();

/** Serializes the builds of a process: each takes memory, and threads that the whole process shares. */
function serialize<Result>(work: () => Promise<Result>): Promise<Result> {
  const turn = lastBuild.then(work);
  lastBuild = turn.catch(() => undefined);
  return turn;
}
