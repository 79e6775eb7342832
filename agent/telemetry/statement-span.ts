/**
 * Spans of database statements, and the comment by which the database's side continues them.
 * https://opentelemetry.io/docs/specs/semconv/db/sql/, https://google.github.io/sqlcommenter/spec/
 */
import { context, SpanKind, trace } from "@opentelemetry/api";
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_SUMMARY,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
} from "@opentelemetry/semantic-conventions";
import { inSpan } from "./call-trace.ts";
import type { Telemetry } from "./telemetry.ts";

const MAX_TEXT_CHARACTERS = 2_000;
const LITERALS = /'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|(?<![\w$])\d+(?:\.\d+)?/gs;
const TABLES = /\b(?:from|join|into|update)\s+([a-z_"][\w."]*)/gi;

/** Runs a statement in a span, if it is run inside one. @param run gets the text to send */
export async function traceStatement<Result>(
  { tracer, inject }: Telemetry,
  text: string,
  run: (text: string) => Promise<Result>,
): Promise<Result> {
  const active = context.active();
  if (trace.getSpan(active) === undefined) return run(text);
  const { operation, tables, summary } = summarize(text);
  const [table] = tables;
  const attributes = {
    [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL,
    [ATTR_DB_OPERATION_NAME]: operation,
    [ATTR_DB_QUERY_SUMMARY]: summary,
    [ATTR_DB_QUERY_TEXT]: withoutLiterals(text).slice(0, MAX_TEXT_CHARACTERS),
    ...(tables.length === 1 ? { [ATTR_DB_COLLECTION_NAME]: table } : {}),
  };
  const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes }, active);
  const { traceparent } = inject(trace.setSpan(active, span));
  return inSpan(span, () =>
    run(traceparent === undefined ? text : `${text} /*traceparent='${traceparent}'*/`),
  );
}

/** The statement's text with `?` for each literal, which may be the caller's words. */
function withoutLiterals(text: string): string {
  return text.replace(LITERALS, "?");
}

function summarize(text: string): { operation: string; tables: string[]; summary: string } {
  const operation = /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? "QUERY";
  const tables = [...new Set([...text.matchAll(TABLES)].map(([, table = ""]) => table.replaceAll('"', "")))];
  return { operation, tables, summary: [operation, ...tables].join(" ").slice(0, 255) };
}
