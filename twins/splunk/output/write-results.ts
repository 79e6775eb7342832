/** Writes a page of results in any output mode. */
import type { ResultSet } from "./result-set.ts";
import { writeCsv } from "./write-csv.ts";
import { writeJson, writeJsonCols, writeJsonRows } from "./write-json.ts";
import { writeRaw } from "./write-raw.ts";
import { type RawMarkup, writeXml } from "./write-xml.ts";

export type ResultsMode = "xml" | "json" | "json_rows" | "json_cols" | "csv" | "raw";

export interface WrittenResults {
  contentType: string;
  /** The body; each chunk is made on demand. */
  chunks: Iterable<string>;
}

const TEXT = "text/plain; charset=UTF-8";
const JSON_TYPE = "application/json; charset=UTF-8";

export function writeResults(set: ResultSet, mode: ResultsMode, markup?: RawMarkup): WrittenResults {
  switch (mode) {
    case "xml":
      return { contentType: "text/xml; charset=UTF-8", chunks: writeXml(set, markup) };
    case "json":
      return { contentType: JSON_TYPE, chunks: writeJson(set) };
    case "json_rows":
      return { contentType: JSON_TYPE, chunks: writeJsonRows(set) };
    case "json_cols":
      return { contentType: JSON_TYPE, chunks: writeJsonCols(set) };
    case "csv": {
      const isEmpty = set.rows.length === 0 || set.columns.length === 0;
      return {
        contentType: isEmpty ? TEXT : "text/csv; charset=UTF-8",
        chunks: isEmpty ? [] : writeCsv(set),
      };
    }
    case "raw":
      return { contentType: TEXT, chunks: writeRaw(set) };
  }
}
