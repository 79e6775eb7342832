/** What a tool call caused in the sandbox: requests to other twins, and the rows that changed. */
import { controlPath, queryText, read } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import type { RequestSummary } from "../api/types.ts";
import type { ToolLine } from "./timeline.ts";
import type { CallDetails, CallSummary } from "./types.ts";

/** What the agent reports to, and what calls the agent: neither is caused by a tool. */
const AROUND_THE_CALL = new Set(["vapi", "engine"]);
const MAX_REQUESTS = 50;
/** Requests that are searched where the sandbox's clock does not tell the machine's time. */
const MAX_SEARCHED = 1_000;
/** A request is noted a moment before or after the tool's own record. */
const SLACK_MS = 20;
const MAX_OTHER_CALLS = 100;

/** A change of a row, as `/sandboxes/{id}/changes` tells it. */
export interface RowChange {
  at: string;
  simulated_at: string;
  twin: string;
  table: string;
  change: "insert" | "update" | "remove" | "reset";
  key?: unknown;
  row?: Record<string, unknown>;
  before?: Record<string, unknown>;
}

/** What a tool asked other twins, as far as its time tells. */
export interface CausedRequests {
  /** The first of them, in the order of time. */
  requests: readonly RequestSummary[];
  total: number;
  /** Calls that ran at the same time: what they caused cannot be told apart. */
  otherCalls: number;
  /** The sandbox's clock stood still or was moved, so moments are less sure. */
  isClockMoved: boolean;
}

interface Span {
  fromMs: number;
  toMs: number;
}

/** Requests to other twins while a tool ran; nothing is read until it has answered. */
export function useCausedRequests(
  sandbox: string,
  call: CallDetails,
  line: ToolLine,
): Resource<CausedRequests> {
  const span = spanOf(line);
  return useResource(span && keyOf(call, line, span), async (signal) => {
    const within = withinOf(span);
    const [{ query, isClockMoved }, { calls }] = await Promise.all([
      timeQuery(sandbox, span, signal),
      read<{ calls: CallSummary[] }>(
        controlPath(sandbox, "vapi", "calls", { order: "newest", limit: MAX_OTHER_CALLS }),
        signal,
      ),
    ]);
    const path = `${pathOf(sandbox)}/requests${queryText({ tier: "vendor", ...query })}`;
    const { requests } = await read<{ requests: RequestSummary[] }>(path, signal);
    const caused = requests.filter(within).reverse();
    return {
      requests: caused.slice(0, MAX_REQUESTS),
      total: caused.length,
      otherCalls: calls.filter((other) => other.id !== call.id && isDuring(other, span)).length,
      isClockMoved,
    };
  });
}

/** Rows of other twins that changed while a tool ran. */
export function useCausedChanges(
  sandbox: string,
  call: CallDetails,
  line: ToolLine,
): Resource<readonly RowChange[]> {
  const span = spanOf(line);
  return useResource(span && keyOf(call, line, span), async (signal) => {
    const { query } = await timeQuery(sandbox, span, signal);
    const path = `${pathOf(sandbox)}/changes${queryText(query)}`;
    const { changes } = await read<{ changes: RowChange[] }>(path, signal);
    return changes.filter(withinOf(span)).reverse();
  });
}

const pathOf = (sandbox: string) => `/sandboxes/${encodeURIComponent(sandbox)}`;
const keyOf = ({ id }: CallDetails, line: ToolLine, { fromMs, toMs }: Span) =>
  `${id} ${line.id} ${fromMs} ${toMs}`;

function spanOf({ call, result }: ToolLine): Span | undefined {
  if (!call.recorded_at || !result?.recorded_at) return undefined;
  const [fromMs, toMs] = [Date.parse(call.recorded_at), Date.parse(result.recorded_at)];
  return { fromMs: fromMs - SLACK_MS, toMs: toMs + SLACK_MS };
}

/** Filters by the machine's time only where that is the sandbox's, too. */
async function timeQuery(sandbox: string, span: Span | undefined, signal: AbortSignal) {
  const { mode } = await read<{ mode: string }>(controlPath(sandbox, "engine", "clock"), signal);
  const isClockMoved = mode !== "live";
  const between =
    span === undefined || isClockMoved ? {} : { since: isoOf(span.fromMs), until: isoOf(span.toMs) };
  return { isClockMoved, query: { order: "newest", limit: MAX_SEARCHED, ...between } };
}

function withinOf(span: Span | undefined) {
  return ({ twin, simulated_at }: { twin: string; simulated_at: string }) => {
    const ms = Date.parse(simulated_at);
    return !AROUND_THE_CALL.has(twin) && span !== undefined && ms >= span.fromMs && ms <= span.toMs;
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function isDuring({ started_at, ended_at }: CallSummary, span: Span | undefined): boolean {
  if (started_at === null || span === undefined) return false;
  const { fromMs, toMs } = span;
  return Date.parse(started_at) <= toMs && (ended_at === null || Date.parse(ended_at) >= fromMs);
}
