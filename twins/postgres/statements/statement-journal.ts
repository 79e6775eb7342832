/** Records statements in the journal, in the shape of HTTP requests. */
import { performance } from "node:perf_hooks";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { CompleteEntry, Journal } from "@offhook/platform/journal/journal";
import { describeStatement } from "./describe-statement.ts";
import type { FieldReader } from "./message-reader.ts";
import type { ShownParameters } from "./parameter-values.ts";

/** Longest statement shown whole, in characters. */
const STATEMENT_LENGTH = 16_000;

const done = 200;
const failed = 400;
/** An earlier statement of the same pipeline failed, so this one did not run. */
const notRun = 424;
const noQuery = new URLSearchParams();

/** An ErrorResponse of the server. Source: "Error and Notice Message Fields" of the Postgres manual. */
export interface ServerError {
  severity: string;
  sqlstate: string;
  message: string;
  detail?: string;
  hint?: string;
  table?: string;
  column?: string;
  constraint?: string;
}

export interface Session {
  database: string;
  user: string;
  application: string;
}

interface Outcome {
  /** Command tags, such as `INSERT 0 1`; several where one message held several statements. */
  commands: string[];
  rows: number;
}

/** A running statement. Only the first call of any method counts. */
export interface RunningStatement {
  done(outcome: Outcome): void;
  failed(error: ServerError): void;
  /** It never ran, or its outcome was not delivered. */
  dropped(reason: string): void;
}

export interface StatementRecord {
  /** Of the comment that ended it, if it continues a trace. */
  traceparent?: string | undefined;
  protocol: "simple" | "extended" | "connection";
  /** `null` when it was prepared so long ago that it has been evicted. */
  statement: string | null;
  parameters?: ShownParameters | undefined;
}

export function recordStatement(
  journal: Pick<Journal, "record">,
  session: Session,
  { protocol, statement, parameters, traceparent }: StatementRecord,
): RunningStatement {
  const body = {
    statement: statement === null ? null : truncate(statement),
    ...(parameters ? { parameters: parameters.values } : {}),
    ...(parameters && parameters.leftOut > 0 ? { parameters_left_out: parameters.leftOut } : {}),
  };
  const complete = once(
    journal.record({
      tier: "vendor",
      operation: protocol === "connection" ? "connection" : "statement",
      method: protocol === "connection" ? "CONNECT" : "QUERY",
      path: `/${session.database}`,
      query: noQuery,
      headers: {
        user: session.user,
        application_name: session.application,
        protocol,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: json(body),
      startedAt: performance.now(),
      span: statement === null ? undefined : () => describeStatement(statement, session.database),
    }),
  );
  return {
    done: ({ commands, rows }) => complete(done, { command: commands.join("; "), rows }),
    failed: (error) => complete(failed, { error }),
    dropped: (reason) => complete(notRun, { error: { message: reason } }),
  };
}

function once(complete: CompleteEntry): (status: number, body: object) => void {
  let open = true;
  return (status, body) => {
    if (open) complete({ status, headers: {}, body: json(body) });
    open = false;
  };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function truncate(statement: string): string {
  if (statement.length <= STATEMENT_LENGTH) return statement;
  return `${statement.slice(0, STATEMENT_LENGTH)}… (cut)`;
}

const errorFields = lookupTable<keyof ServerError>({
  V: "severity",
  C: "sqlstate",
  M: "message",
  D: "detail",
  H: "hint",
  t: "table",
  c: "column",
  n: "constraint",
});

/** Reads the fields of an ErrorResponse. */
export function readServerError(fields: FieldReader): ServerError {
  const error: ServerError = { severity: "ERROR", sqlstate: "XX000", message: "" };
  for (let type = fields.byte(); type !== 0; type = fields.byte()) {
    const name = errorFields[String.fromCharCode(type)];
    const text = fields.text();
    if (name !== undefined) error[name] = text;
  }
  return error;
}
