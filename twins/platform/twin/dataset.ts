/**
 * Datasets: the rows that a log twin starts with, made from one file. The platform receives the file, stores the dataset for
 * an environment and hands it to the twin; only the library that made it knows what the rows mean.
 */
import type { Logger } from "pino";

/** A file being received. */
export interface DatasetSource {
  /** The bytes as sent, possibly compressed. */
  bytes: AsyncIterable<Buffer>;
  /** Limit of its bytes, both as sent and decompressed; unbounded when absent. */
  maxBytes?: number | undefined;
  /** Name of the file, if it has one. */
  fileName?: string | undefined;
  /** Media type, if known. */
  contentType?: string | undefined;
  /** The format, if the client named one. */
  format?: string | undefined;
  /** Receives progress in words. */
  onProgress?: ((what: string) => void) | undefined;
}

/** A field, as a dataset's description shows it. */
export interface DatasetColumn {
  name: string;
  type: string;
  /** Whether some row has several values. */
  multi: boolean;
  /** How the type was inferred, where it was ambiguous: `both day-first and month-first fit every row`. */
  note?: string;
}

/** A dataset's description, as `GET /environments/{env}/datasets/{service}` answers it. */
export interface DatasetDescription {
  /** Name of the source file; `null` when it had none. */
  file_name: string | null;
  format: string;
  /** Hash of the file, in hexadecimal. */
  sha256: string;
  /** Size of the file as sent. */
  bytes: number;
  /** Creation time, ISO 8601. */
  created_at: string;
  rows: number;
  columns: DatasetColumn[];
  /** The column with the event's time; `null` when there is none. */
  time_field: string | null;
  /** First and last time, ISO 8601. */
  time_range: { from: string; to: string } | null;
  /** The first rows, each as JSON text, whose numbers may have more digits than a JavaScript number holds. */
  sample: string[];
}

/** A dataset ready for use. */
export interface Dataset {
  /** Path of the dataset's file, which exists until `release`. Twins copy it and never write to it. */
  readonly file: string;
  readonly description: DatasetDescription;
  /** Gives the dataset back to its library. */
  release(): Promise<void>;
}

/** One thing that is wrong with a file. */
export interface DatasetProblem {
  /** Line of the file, from 1. */
  line?: number;
  /** Character of that line, from 1. */
  column?: number;
  rule: string;
}

/** A file from which no dataset can be made; nothing of it is kept. */
export class DatasetRefusal extends Error {
  /** The first hundred. */
  readonly problems: readonly DatasetProblem[];
  /** Total number of problems. */
  readonly total: number;
  constructor(message: string, problems: readonly DatasetProblem[] = [], total = problems.length) {
    super(message);
    this.name = "DatasetRefusal";
    this.problems = problems;
    this.total = total;
  }
}

/** A refusal as lines of text: the reason, then each place. */
export function describeRefusal({ message, problems, total }: Omit<DatasetRefusal, "name">): string {
  const places = problems.map(({ line, column, rule }) => {
    const where = [line === undefined ? [] : `line ${line}`, column === undefined ? [] : `column ${column}`];
    const place = where.flat().join(", ");
    return `  ${place === "" ? "" : `${place}: `}${rule}`;
  });
  const more = total > problems.length ? [`  and ${total - problems.length} more`] : [];
  return [message, ...places, ...more].join("\n");
}

/** A file above the size limit; nothing of it is kept. */
export class DatasetTooLarge extends Error {
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the file has more than ${limitBytes} bytes`);
    this.name = "DatasetTooLarge";
    this.limitBytes = limitBytes;
  }
}

/** Makes datasets, and caches them while there is room. */
export interface DatasetLibrary {
  /** @param signal aborts and leaves nothing behind. @throws DatasetRefusal, DatasetTooLarge, or the source's error */
  fromStream(source: DatasetSource, signal?: AbortSignal): Promise<Dataset>;
  /** Reads a file on disk, or finds its dataset in the cache. @throws DatasetRefusal, or Error naming the file */
  fromFile(file: string, onProgress?: DatasetSource["onProgress"]): Promise<Dataset>;
  close(): Promise<void>;
}

export interface DatasetLibraryOptions {
  /** The cache's folder, which outlives the process and may be shared with others. */
  folder: string;
  log: Logger;
}

/** Opens a library; part of the definition of a twin whose service takes a dataset. */
export type OpenDatasetLibrary = (options: DatasetLibraryOptions) => Promise<DatasetLibrary>;
