/** ES|QL results in the requested form: JSON, YAML, CSV, TSV or a text table. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { contentTypes, readDelimiter, type TextFormat, writeText } from "../esql/formats/text.ts";
import type { EsqlResult } from "../esql/run.ts";
import { illegalArgument } from "../vendor/error.ts";
import { BUILD_HASH, VERSION } from "../vendor/node.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { PlainRefusal } from "./media-types.ts";

export interface AnswerOptions {
  columnar: boolean;
  profile: boolean;
  /** Members before the columns, in answers of asynchronous queries. */
  lead?: Record<string, unknown>;
}

const textTypes = lookupTable<TextFormat>({
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
  "text/plain": "txt",
});

/** @throws PlainRefusal for a form that this twin does not write */
export function checkForm(call: Call): void {
  const format = call.parameters.text("format");
  if (format === "arrow" || call.request.headers.accept?.includes("apache.arrow")) {
    throw new PlainRefusal(406, "This twin does not answer in arrow; ask for json, yaml, csv, tsv or txt");
  }
  const known = ["json", "yaml", "csv", "tsv", "txt", "cbor", "smile"];
  if (format !== undefined && !known.includes(format)) {
    throw illegalArgument(
      `Invalid request content type: Accept=[${call.request.headers.accept ?? "*/*"}], Content-Type=[${call.request.headers["content-type"] ?? ""}], format=[${format}]`,
    );
  }
}

export function answerOf(
  call: Call,
  result: EsqlResult,
  { columnar, profile, lead = {} }: AnswerOptions,
): Answer {
  const headers = warningHeaders(result.warnings);
  const text = textForm(call);
  if (text) {
    if (columnar) {
      throw illegalArgument(
        `Invalid use of [columnar] argument: cannot be used in combination with [${text.format}] formats`,
      );
    }
    const delimiter = readDelimiter(text.format === "csv" ? call.parameters.text("delimiter") : undefined);
    const body = writeText(result, text.format, { delimiter, header: text.header });
    const presence = text.format === "txt" ? "" : `; header=${text.header ? "present" : "absent"}`;
    return { body, headers, contentType: contentTypes[text.format] + presence };
  }
  const shown = call.parameters.flag("drop_null_columns")
    ? withoutNulls(result)
    : { columns: result.columns, values: result.values };
  const values = columnar
    ? shown.columns.map((_, index) => shown.values.map((row) => row[index]))
    : shown.values;
  return { body: { ...lead, ...shown, values, ...(profile ? { profile: { drivers: [] } } : {}) }, headers };
}

function textForm(call: Call): { format: TextFormat; header: boolean } | undefined {
  const [type = "", ...parameters] = (call.request.headers.accept ?? "").toLowerCase().split(";");
  const asked = call.parameters.text("format");
  const format =
    asked === undefined
      ? textTypes[type.trim()]
      : (["csv", "tsv", "txt"] as const).find((known) => known === asked);
  return format && { format, header: !parameters.some((parameter) => parameter.trim() === "header=absent") };
}

/** `drop_null_columns`: `all_columns` lists every column, `columns` those with a value. */
function withoutNulls({ columns, values }: EsqlResult) {
  const kept = columns.flatMap((_, index) => (values.some((row) => row[index] !== null) ? [index] : []));
  return {
    all_columns: columns,
    columns: kept.flatMap((index) => columns[index] ?? []),
    values: values.map((row) => kept.map((index) => row[index])),
  };
}

/** All warnings in one header. Source: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningHeaders(warnings: readonly string[]): Record<string, string> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 ${agent} "${quoteHeader(text)}"`).join(", ") };
}

const agent = `Elasticsearch-${VERSION}-${BUILD_HASH}`;
/** Truncates warnings: headers have a bounded size. */
const MAX_LENGTH = 1000;

/** Percent-escapes what a quoted header string may not hold. */
function quoteHeader(text: string): string {
  // The detour through bytes turns a surrogate half into a replacement character.
  return Buffer.from(text.slice(0, MAX_LENGTH))
    .toString("utf8")
    .replace(/[^\t\x20-\x24\x26-\x7e\x80-\xff]/gu, (character) => encodeURIComponent(character))
    .replace(/[\\"]/g, "\\$&");
}
