/**
 * Datasets: the rows that a log twin starts with, made of one file that somebody has. The platform takes the file in, keeps
 * what was made of it for an environment, and says to a twin which it is; what the rows mean is the maker's alone.
 */
import type { Logger } from "pino";

/** A file on its way in. */
export interface DatasetSource {
  /** As they were sent; they may be compressed. */
  bytes: AsyncIterable<Buffer>;
  /** Most bytes of it, as they were sent and decompressed; no bound when absent. */
  maxBytes?: number | undefined;
  /** Name of the file, if it has one. */
  fileName?: string | undefined;
  /** Media type, if one was named. */
  contentType?: string | undefined;
  /** The format, if one was asked for by name. */
  format?: string | undefined;
  /** Told how far it is, in words. */
  onProgress?: ((what: string) => void) | undefined;
}

/** A field, as a dataset's description shows it. */
export interface DatasetColumn {
  name: string;
  type: string;
  /** Whether some row has several values. */
  multi: boolean;
  /** What there is to know about how the type was found: `both day-first and month-first fit every row`. */
  note?: string;
}

/** What there is to know about a dataset, as `GET /environments/{env}/datasets/{service}` answers it. */
export interface DatasetDescription {
  /** Name of the file it was made of; `null` when it had none. */
  file_name: string | null;
  format: string;
  /** Of the file, as hexadecimal. */
  sha256: string;
  /** Size of the file as it was sent. */
  bytes: number;
  /** When it was made, ISO 8601. */
  created_at: string;
  rows: number;
  columns: DatasetColumn[];
  /** The column that says when an event happened; `null` when there is none. */
  time_field: string | null;
  /** First and last time, ISO 8601. */
  time_range: { from: string; to: string } | null;
  /** The first rows, each as JSON text: its numbers may have more digits than a program's. */
  sample: string[];
}

/** A dataset that is ready. */
export interface Dataset {
  /** Path of what was made: twins copy it and never write to it. It is there until `release`. */
  readonly file: string;
  readonly description: DatasetDescription;
  /** Nobody needs it any more. */
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

/** A file of which no dataset can be made; nothing of it is kept. */
export class DatasetRefusal extends Error {
  /** The first hundred. */
  readonly problems: readonly DatasetProblem[];
  /** How many there are in all. */
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

/** A file that is larger than it may be; nothing of it is kept. */
export class DatasetTooLarge extends Error {
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the file has more than ${limitBytes} bytes`);
    this.name = "DatasetTooLarge";
    this.limitBytes = limitBytes;
  }
}

/** Makes datasets, and keeps those it has made for as long as there is room. */
export interface DatasetLibrary {
  /** @param signal gives up: nothing is left behind. @throws DatasetRefusal, DatasetTooLarge, or the source's error */
  fromStream(source: DatasetSource, signal?: AbortSignal): Promise<Dataset>;
  /** The same of a file on disk; at once when this file has been read before. @throws DatasetRefusal, or Error naming the file */
  fromFile(file: string, onProgress?: DatasetSource["onProgress"]): Promise<Dataset>;
  close(): Promise<void>;
}

export interface DatasetLibraryOptions {
  /** Where datasets are kept, this start and the next; other processes may use it at the same time. */
  folder: string;
  log: Logger;
}

/** What a twin's definition gives the platform when its service takes a dataset. */
export type OpenDatasetLibrary = (options: DatasetLibraryOptions) => Promise<DatasetLibrary>;
