/** What the programs of `bench search` are asked. */
import type { Facts } from "./facts.ts";

/** The twin, in a process of its own. */
export interface TwinQuestions {
  /** The twin of an environment file on a free port. */
  start: { ask: { environmentFile: string; datasetFolder: string }; answer: RunningTwin };
  memory: { ask: object; answer: { rssBytes: number /** The most it ever was. */; peakBytes: number } };
}

export interface RunningTwin {
  baseUrl: string;
  apiKey: string;
}

export type DatasetFormat = "ndjson" | "csv";

/** Plain DuckDB, in a process of its own. */
export interface FloorQuestions {
  /** Makes a table of a file with DuckDB's own reader, in a database file. */
  load: {
    ask: { file: string; format: DatasetFormat; database: string };
    answer: { rows: number; ms: number };
  };
  /** Adds to the table what somebody would who asks it by hand. */
  extend: { ask: { database: string }; answer: { ms: number } };
  open: { ask: { database: string }; answer: object };
  /** One question, in SQL written by hand. */
  ask: { ask: { question: string; variant: number; facts: Facts }; answer: { answer: Answer; ms: number } };
}

/** What is answered, the same whoever was asked: rows of values in an order that the question says. */
export type Answer = (string | number | null)[][];

/** Asks DuckDB; BIGINT comes out as `number`. */
export type AskByHand = (statement: string, values?: string[]) => Promise<(string | number | null)[][]>;
