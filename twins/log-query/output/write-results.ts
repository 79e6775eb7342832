/** A page of results in any of the forms there are. */
import type { ResultSet } from "./result-set.ts";
import { writeCsv } from "./write-csv.ts";
import { writeJson, writeJsonCols, writeJsonRows } from "./write-json.ts";
import { writeRaw } from "./write-raw.ts";
import { type RawMarkup, writeXml } from "./write-xml.ts";

export type ResultsMode = "xml" | "json" | "json_rows" | "json_cols" | "csv" | "raw";

export interface Written {
  contentType: string;
  body: string;
}

const TEXT = "text/plain; charset=UTF-8";
const JSON_TYPE = "application/json; charset=UTF-8";

export function writeResults(set: ResultSet, mode: ResultsMode, markup?: RawMarkup): Written {
  switch (mode) {
    case "xml":
      return { contentType: "text/xml; charset=UTF-8", body: writeXml(set, markup) };
    case "json":
      return { contentType: JSON_TYPE, body: writeJson(set) };
    case "json_rows":
      return { contentType: JSON_TYPE, body: writeJsonRows(set) };
    case "json_cols":
      return { contentType: JSON_TYPE, body: writeJsonCols(set) };
    case "csv": {
      const body = set.rows.length === 0 ? "" : writeCsv(set);
      return { contentType: body === "" ? TEXT : "text/csv; charset=UTF-8", body };
    }
    case "raw":
      return { contentType: TEXT, body: writeRaw(set) };
  }
}
