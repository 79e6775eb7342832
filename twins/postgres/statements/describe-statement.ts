/**
 * A statement as its span tells of it, and the comment by which it continues a trace.
 * https://opentelemetry.io/docs/specs/semconv/db/sql/, https://google.github.io/sqlcommenter/spec/
 */

import type { SpanDescription } from "@offhook/platform/telemetry/request-spans";
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_NAMESPACE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_SUMMARY,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
} from "@opentelemetry/semantic-conventions";
import { tokensOf } from "./tokens.ts";

const MAX_TEXT_LENGTH = 2_000;
const MAX_SUMMARY_LENGTH = 255;
/** The keywords that a table's name follows. */
const BEFORE_TABLE = new Set(["FROM", "JOIN", "INTO", "UPDATE"]);

/** A statement without the comment that continues a trace, and that comment's `traceparent`. */
export interface CommentedStatement {
  text: string;
  traceparent?: string;
}

/** Takes the trailing comment off, if it has a `traceparent`; other comments are the statement's own. */
export function readTraceComment(text: string): CommentedStatement {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith("*/")) return { text };
  const start = trimmed.lastIndexOf("/*");
  const traceparent = /traceparent='([0-9a-f-]{55})'/.exec(trimmed.slice(start))?.[1];
  return start < 0 || traceparent === undefined
    ? { text }
    : { text: trimmed.slice(0, start).trimEnd(), traceparent };
}

/** @param statement whose passwords are masked @param database its name */
export function describeStatement(statement: string, database: string): SpanDescription {
  const head = statement.slice(0, MAX_TEXT_LENGTH);
  const words: string[] = [];
  let text = "";
  let copied = 0;
  for (const { kind, start, end } of tokensOf(head)) {
    if (kind === "word") words.push(head.slice(start, end));
    if (kind !== "literal") continue;
    text += `${head.slice(copied, start)}?`;
    copied = end;
  }
  text += head.slice(copied);
  const operation = words[0]?.toUpperCase() ?? "QUERY";
  const tables = tablesAmong(words);
  const [table] = tables;
  const summary = [operation, ...tables].join(" ").slice(0, MAX_SUMMARY_LENGTH);
  return {
    name: summary,
    attributes: {
      [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL,
      [ATTR_DB_NAMESPACE]: database,
      [ATTR_DB_OPERATION_NAME]: operation,
      [ATTR_DB_QUERY_SUMMARY]: summary,
      [ATTR_DB_QUERY_TEXT]: text.replace(/(?<![\w$])\d+(?:\.\d+)?/g, "?"),
      ...(table !== undefined && tables.length === 1 ? { [ATTR_DB_COLLECTION_NAME]: table } : {}),
    },
  };
}

function tablesAmong(words: readonly string[]): string[] {
  const names = words.filter((_, index) => BEFORE_TABLE.has(words[index - 1]?.toUpperCase() ?? ""));
  return [...new Set(names.map((name) => name.replaceAll('"', "")))];
}
