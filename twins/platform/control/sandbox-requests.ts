/** `/sandboxes/{id}/requests`: the journals of all twins of a sandbox as one, in summaries. */
import { z } from "zod";
import { readJson } from "../base/json.ts";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation, type VendorResponse } from "../http/operation.ts";
import type { JournalEntry } from "../journal/journal.ts";
import type { HostedTwin, Sandbox } from "../sandboxes/sandbox.ts";
import { pageParameters } from "./paging.ts";
import { entryFilters, entryOrder, matchesFilters, showDuration } from "./requests.ts";
import { isObject } from "./rows-schema.ts";
import { forSandbox, type SandboxesTarget } from "./sandboxes.ts";

/** Limit of the text that a read looks for. */
const MAX_TEXT = 200;
/** Characters of a summary's SQL; the whole is in the entry itself. */
const MAX_SQL = 2000;

/** An instant; read as milliseconds since the Unix epoch. */
export const isoTime = z.iso
  .datetime({ offset: true, error: "must be an ISO time (2026-01-31T09:00:00Z)" })
  .transform(Date.parse);

const requestsQuery = z.strictObject({
  twin: z.array(z.string()).optional(),
  ...entryFilters,
  /** By the machine's clock; both ends belong to it. */
  since: isoTime.optional(),
  until: isoTime.optional(),
  text: z.string().min(1).max(MAX_TEXT).optional(),
  fault: z
    .string()
    .regex(/^(any|fault-[0-9]+)$/, "must be any, or the id of a fault")
    .optional(),
  order: entryOrder,
  ...pageParameters,
});

type RequestsQuery = z.output<typeof requestsQuery>;

export const sandboxRequestOperations: readonly Operation<SandboxesTarget>[] = [
  operation<SandboxesTarget>({
    id: "sandbox.requests.read",
    method: "GET",
    path: "/sandboxes/:id/requests",
    surface: "rest",
    summary:
      "Summaries of the requests to all twins of a sandbox, filtered by twin, tier, operation, method, path, status, since, until, text and fault.",
    handle: forSandbox((request, sandbox) => {
      const query = readQueryAs(request, requestsQuery, ["twin"]);
      if (!query.ok) return query.response;
      const twins = chooseTwins(sandbox, query.value.twin);
      return twins.ok ? { status: 200, body: readPage(twins.value, query.value) } : twins.response;
    }),
  }),
];

/** Twins of a sandbox by their names. */
export type NamedTwins = readonly (readonly [string, HostedTwin])[];

/** The twins that a query names, or all. */
export function chooseTwins(
  { twins }: Sandbox,
  names: readonly string[] = [...twins.keys()],
): { ok: true; value: NamedTwins } | { ok: false; response: VendorResponse } {
  const unknown = [...new Set(names)].filter((name) => !twins.has(name));
  if (unknown.length === 0) return { ok: true, value: [...twins].filter(([name]) => names.includes(name)) };
  const rule = `there is no such twin in this sandbox; it has ${[...twins.keys()].join(", ")}`;
  const problems = unknown.map((value) => ({ field: "twin", value, rule }));
  return {
    ok: false,
    response: errorResponse(422, "invalid", "the query is not what this route takes", problems),
  };
}

function readPage(twins: NamedTwins, query: RequestsQuery) {
  const { order, limit, offset } = query;
  const matches = createFilter(query);
  const found = twins.flatMap(([twin, { journal }]) =>
    journal.entries().flatMap((entry) => (matches(entry) ? [{ twin, entry }] : [])),
  );
  // Stable: requests of one millisecond stay in the order of their twin.
  found.sort((a, b) => a.entry.wallTimeMs - b.entry.wallTimeMs);
  if (order === "newest") found.reverse();
  const dropped = { vendor: 0, control: 0 };
  for (const [, { journal }] of twins) {
    const { vendor, control } = journal.dropped();
    dropped.vendor += vendor;
    dropped.control += control;
  }
  return {
    requests: found.slice(offset, offset + limit).map(({ twin, entry }) => summarizeEntry(twin, entry)),
    total: found.length,
    limit,
    offset,
    dropped,
  };
}

function createFilter(query: RequestsQuery): (entry: JournalEntry) => boolean {
  const { since, until, text, fault } = query;
  const hasText = text === undefined ? undefined : createTextFilter(text);
  return (entry) =>
    matchesFilters(entry, query) &&
    (since === undefined || entry.wallTimeMs >= since) &&
    (until === undefined || entry.wallTimeMs <= until) &&
    (fault === undefined || isHitBy(entry, fault)) &&
    // Last, since it is the slowest.
    (hasText === undefined || hasText(entry));
}

function isHitBy({ answer }: JournalEntry, fault: string): boolean {
  if (answer?.fault === undefined) return false;
  return fault === "any" || answer.fault.startsWith(`${fault} `);
}

function createTextFilter(text: string): (entry: JournalEntry) => boolean {
  // The UTF-8 bytes one by one: such a search is twice as fast as one for a buffer.
  const bytes = Buffer.from(text).toString("latin1");
  const isIn = (body: Buffer) => body.includes(bytes, 0, "latin1");
  return ({ path, query, body, answer }) =>
    path.includes(text) ||
    Object.entries(query).some(([name, value]) => name.includes(text) || value.includes(text)) ||
    isIn(body.bytes) ||
    (answer !== undefined &&
      (isIn(answer.body.bytes) || (answer.notes !== undefined && isIn(answer.notes.bytes))));
}

/** A request in a list: what it was and how it ended, without headers and bodies. */
export function summarizeEntry(twin: string, entry: JournalEntry) {
  const { seq, tier, operation: id, method, path, answer } = entry;
  return {
    twin,
    seq,
    tier,
    operation: id,
    method,
    path,
    status: answer?.status ?? null,
    duration_ms: showDuration(entry),
    received_at: new Date(entry.wallTimeMs).toISOString(),
    simulated_at: new Date(entry.simulatedTimeMs).toISOString(),
    fault: answer?.fault ?? null,
    sql: sqlOf(entry),
    notes: answer?.notes !== undefined,
  };
}

/** Method of an SQL statement that did not come over HTTP. */
const QUERY = "QUERY";

const noted = z.object({ sql: z.union([z.string(), z.array(z.string())]) });
const stated = z.object({ statement: z.string() });

/** The SQL of a request: what its notes say it became, or the statement that it is. */
function sqlOf({ method, body, answer }: JournalEntry): string | null {
  const sql = answer?.notes && noted.safeParse(jsonOf(answer.notes.bytes)).data?.sql;
  if (sql !== undefined) return cut(typeof sql === "string" ? sql : sql.join(";\n"));
  if (method !== QUERY) return null;
  const statement = stated.safeParse(jsonOf(body.bytes)).data?.statement;
  return statement === undefined ? null : cut(statement);
}

function jsonOf(bytes: Buffer): unknown {
  const json = readJson(bytes);
  return json.ok && isObject(json.value) ? json.value : undefined;
}

function cut(sql: string): string {
  return sql.length > MAX_SQL ? `${sql.slice(0, MAX_SQL)}…` : sql;
}
