/** Makes a dataset: a file in, a database with the tables of a store out, and what there is to know about it. */
import { rm } from "node:fs/promises";
import path from "node:path";
import { wallTime } from "@offhook/platform/base/clock";
import type { DatasetDescription, DatasetSource } from "@offhook/platform/twin/dataset";
import type { TextIndex } from "../fields.ts";
import { countOf, type ParsedFile, parseFile } from "./parse-file.ts";
import { closeStagingDatabase, loadStaged, openStagingDatabase } from "./staging-database.ts";
import { StagingFile } from "./staging-file.ts";
import { writeDocuments } from "./write-documents.ts";

export interface MadeDataset {
  /** The database, in the folder. */
  file: string;
  description: DatasetDescription;
}

/**
 * @param folder empty, and the caller's to remove, whatever happens.
 * @throws DatasetRefusal with what is wrong with the file, DatasetTooLarge, the signal's reason, or the source's error
 */
export async function ingest(
  source: DatasetSource,
  folder: string,
  signal?: AbortSignal,
  textIndex: TextIndex = "fields",
): Promise<MadeDataset> {
  const out = await StagingFile.create(path.join(folder, "staged"));
  const taken = await parseFile(source, out, signal).finally(() => out.close());
  source.onProgress?.(`${countOf(out)} read, their types and words follow`);
  return inTurn(() => make(source, folder, out, taken, { signal, textIndex }));
}

async function make(
  { fileName }: DatasetSource,
  folder: string,
  out: StagingFile,
  taken: ParsedFile,
  { signal, textIndex }: { signal: AbortSignal | undefined; textIndex: TextIndex },
): Promise<MadeDataset> {
  signal?.throwIfAborted();
  const file = path.join(folder, "dataset.duckdb");
  const database = await openStagingDatabase(folder, file);
  const { connection } = database;
  const interrupt = () => connection.interrupt();
  signal?.addEventListener("abort", interrupt, { once: true });
  try {
    await loadStaged(connection, out, taken.reader);
    await rm(out.path);
    signal?.throwIfAborted();
    const { rows, columns, timeField, timeRange, sample } = await writeDocuments(
      connection,
      taken.reader,
      out.rows,
      textIndex,
    );
    const { format, sha256, bytes } = taken;
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

let last: Promise<unknown> = Promise.resolve();

/** One database is made after the other: each takes memory, and threads that the whole process shares. */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const turn = last.then(work);
  last = turn.catch(() => undefined);
  return turn;
}
