/** `makeresults`: generates rows, or reads them from inline data. */
import { sql } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../../product.ts";
import { defineCommand } from "../command.ts";
import { type Output, select } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import { nullValue } from "../relation/typed.ts";
import { inlineRows } from "../sources/inline-rows.ts";
import { SplError } from "../spl-error.ts";
import { boolean, count, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";
import { isThisServer } from "./this-server.ts";

/** Length of `data`. */
const MAX_DATA_CHARACTERS = 29_999;

const formats = ["csv", "json"] as const;
const annotations = ["_raw", "host", "source", "sourcetype", "splunk_server", "splunk_server_group"];

export const makeresults = defineCommand({
  name: "makeresults",
  kind: "generating",
  parse(reader) {
    const options = reader.options({
      count,
      annotate: boolean,
      splunk_server: text,
      splunk_server_group: text,
      format: text,
      data: text,
    });
    rejectUnserved(reader, "makeresults", options);
    // splunkd silently ignores further arguments.
    reader.rest();
    const { format: written, data, splunk_server: server = "local", ...others } = options;
    if ((written === undefined) !== (data === undefined)) {
      throw inlineDataError(
        "You must specify both 'format' and 'data' arguments for 'makeresults' to read inline data. ",
      );
    }
    const format = formats.find((known) => known === written);
    if (format === undefined && written !== undefined) {
      throw inlineDataError(
        `An invalid 'format' was specified: ${written}. Valid 'format' options are 'csv' and 'json'.`,
      );
    }
    if (format !== undefined && Object.keys(others).length > 0) {
      throw inlineDataError(
        "When 'makeresults' generates events from inline data, it does not allow arguments other than 'format' and 'data'.",
      );
    }
    if ((data?.length ?? 0) > MAX_DATA_CHARACTERS) {
      throw inlineDataError(
        `You have reached the inline data character limit for 'makeresults'. Inlined data must be ${MAX_DATA_CHARACTERS} characters or less.`,
      );
    }
    const inline = format === undefined || data === undefined ? undefined : { format, data };
    return {
      rows: isThisServer(server) ? (options.count ?? 1) : 0,
      annotate: options.annotate ?? false,
      inline,
    };
  },
  compile({ rows, annotate, inline }, _, { nowMs }) {
    const nowSeconds = Math.floor(nowMs / 1000);
    if (inline !== undefined) return relationOf(inlineRows(inline, nowSeconds));
    const time: Output = {
      name: "_time",
      value: { type: "number", multi: false, sql: sql`CAST(${nowSeconds} AS DOUBLE)` },
    };
    const server = { type: "text", multi: false, sql: sql`CAST(${SERVER_NAME} AS VARCHAR)` } as const;
    const extra = annotations.map(
      (name): Output => ({ name, value: name === "splunk_server" ? server : nullValue }),
    );
    return select(
      sql`SELECT range AS "#order0" FROM range(CAST(${rows} AS BIGINT))`,
      annotate ? [time, ...extra] : [time],
      [{ column: "#order0", direction: "ASC" }],
      "report",
    );
  },
});

function inlineDataError(message: string): SplError {
  return new SplError(`Error in 'MakeResultsProcessor': ${message}`);
}
