/** `/sim/requests`: the twin's journal of requests and answers. */
import { z } from "zod";
import { readJson } from "../base/json.ts";
import { matchesPattern } from "../base/star-pattern.ts";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation, type VendorRequest, type VendorResponse } from "../http/operation.ts";
import type { Journal, JournalEntry, KeptBody } from "../journal/journal.ts";
import { pageParameters, wholeNumber } from "./paging.ts";
import type { ControlTarget } from "./target.ts";

/** Limit of a pattern for paths. */
const MAX_PATTERN = 2_000;

/** Filters that every read of a journal takes. */
export const entryFilters = {
  tier: z.enum(["vendor", "control"]).optional(),
  operation: z.string().optional(),
  method: z.string().optional(),
  /** Compared without the query; `*` is any text. */
  path: z.string().min(1).max(MAX_PATTERN).optional(),
  /** A status (`404`) or a class of them (`5xx`). */
  status: z
    .string()
    .regex(/^([1-5]\d\d|[1-5]xx)$/, "must be a status such as 404, or a class such as 5xx")
    .optional(),
};

/** The order of a journal's entries. */
export const entryOrder = z.enum(["oldest", "newest"]).default("oldest");

type EntryFilters = z.output<z.ZodObject<typeof entryFilters>>;

const requestsQuery = z.strictObject({
  ...entryFilters,
  /** A `seq`: only later requests. An ISO time: requests received then or later, by the machine's clock. */
  since: z
    .union(
      [wholeNumber, z.iso.datetime({ offset: true })],
      "must be a seq (42) or an ISO time (2026-01-31T09:00:00Z)",
    )
    .optional(),
  order: entryOrder,
  ...pageParameters,
});

export const requestOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "requests.read",
    method: "GET",
    path: "/sim/requests",
    surface: "rest",
    summary:
      "Requests served, oldest first unless order=newest, filtered by tier, operation, method, path, status and since; with how many were let go.",
    handle: (request, { twin }) => answerRequests(request, twin.journal),
  }),
  operation<ControlTarget>({
    id: "requests.read-one",
    method: "GET",
    path: "/sim/requests/:seq",
    surface: "rest",
    summary: "One request with its answer, by its seq.",
    handle({ params }, { twin: { journal } }) {
      const seq = wholeNumber.safeParse(params.seq);
      const entry = seq.success ? journal.find(seq.data) : undefined;
      if (entry) return { status: 200, body: showEntry(entry) };
      const wasThere = seq.success && seq.data > 0 && seq.data <= journal.newest;
      const reason = wasThere ? "is no longer in the journal" : "is not in the journal";
      return errorResponse(404, "not_found", `request ${params.seq} ${reason}`);
    },
  }),
];

/** Answers a journal's records, filtered as the query asks. */
export function answerRequests(request: VendorRequest, journal: Journal): VendorResponse {
  const query = readQueryAs(request, requestsQuery);
  if (!query.ok) return query.response;
  const { since, order, limit, offset, ...filters } = query.value;
  const entries = order === "newest" ? journal.entries().reverse() : journal.entries();
  const found = entries.filter(
    (entry) => matchesFilters(entry, filters) && (since === undefined || isSince(entry, since)),
  );
  return {
    status: 200,
    body: {
      requests: found.slice(offset, offset + limit).map(showEntry),
      total: found.length,
      limit,
      offset,
      dropped: journal.dropped(),
      newest_seq: journal.newest,
    },
  };
}

export function matchesFilters(
  entry: JournalEntry,
  { tier, operation: id, method, path, status }: EntryFilters,
): boolean {
  return (
    (tier === undefined || entry.tier === tier) &&
    (id === undefined || entry.operation === id) &&
    (method === undefined || entry.method === method) &&
    (path === undefined || matchesPattern(entry.path, path)) &&
    (status === undefined || hasStatus(entry, status))
  );
}

function hasStatus({ answer }: JournalEntry, wanted: string): boolean {
  const status = answer === undefined ? "" : String(answer.status);
  return wanted.endsWith("xx") ? status.startsWith(wanted.charAt(0)) : status === wanted;
}

function isSince(entry: JournalEntry, since: number | string): boolean {
  return typeof since === "number" ? entry.seq > since : entry.wallTimeMs >= Date.parse(since);
}

/** A record as `/sim/requests` and the engine's trace show it. */
export function showEntry(entry: JournalEntry) {
  const { answer } = entry;
  return {
    seq: entry.seq,
    tier: entry.tier,
    operation: entry.operation,
    method: entry.method,
    path: entry.path,
    query: entry.query,
    headers: entry.headers,
    body: showBody(entry.body),
    status: answer?.status ?? null,
    response: answer ? { headers: answer.headers, body: showBody(answer.body) } : null,
    notes: answer?.notes ? showBody(answer.notes) : null,
    fault: answer?.fault ?? null,
    duration_ms: showDuration(entry),
    received_at: new Date(entry.wallTimeMs).toISOString(),
    simulated_at: new Date(entry.simulatedTimeMs).toISOString(),
  };
}

/** Milliseconds to the microsecond; `null` while the request is being answered. */
export function showDuration({ answer }: JournalEntry): number | null {
  return answer ? Math.round(answer.durationMs * 1000) / 1000 : null;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A stored body as JSON, as text, or else in base64; marks a truncated one. */
export function showBody(body: KeptBody): unknown {
  if (body.originalBytes === 0) return null;
  if (body.truncated) {
    return { truncated: true, original_bytes: body.originalBytes, text: body.bytes.toString("utf8") };
  }
  let text: string;
  try {
    text = utf8.decode(body.bytes);
  } catch {
    return { base64: body.bytes.toString("base64") };
  }
  // Invalid or too deeply nested JSON is shown as text.
  const json = readJson(body.bytes);
  return json.ok ? json.value : text;
}
