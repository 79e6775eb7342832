/** An open tool call: what it was asked and answered, and what it caused. */
import "./tool.css";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { controlPath, read } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import type { RequestSummary } from "../api/types.ts";
import { entryText, type JournalEntry } from "../journal/types.ts";
import { hrefOf, place } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatMoment, formatValue } from "../ui/format.ts";
import { Json } from "../ui/json.tsx";
import type { ExpectedMember } from "./failures.ts";
import { MarkedJson } from "./marked-json.tsx";
import { isTool, type Line, readJson, type ToolLine } from "./timeline.ts";
import { type CausedRequests, type RowChange, useCausedChanges, useCausedRequests } from "./tool-data.ts";
import type { CallDetails, SimulationEvent, Webhook } from "./types.ts";

/** A request that ends with its tool was answered. */
const GIVE_UP_SLACK_MS = 100;

export interface ToolDetailsProps {
  line: ToolLine;
  call: CallDetails;
  events: readonly SimulationEvent[];
  lines: readonly Line[];
  /** Members of its arguments and result that are not as expected. */
  unexpected: readonly ExpectedMember[];
}

export function ToolDetails({ line, call, events, lines, unexpected }: ToolDetailsProps) {
  const { sandbox } = place.value;
  const requests = useCausedRequests(sandbox, call, line);
  const changes = useCausedChanges(sandbox, call, line);
  const { result } = line;
  return (
    <div class="call-tool-details">
      <div class="columns">
        <Part title="Arguments">
          <MarkedJson value={line.call.arguments ?? {}} part="arguments" expected={unexpected} />
        </Part>
        <Part title="Result">
          {result === undefined ? (
            <p class="quiet">None yet.</p>
          ) : (
            <MarkedJson value={readJson(result.text)} part="result" expected={unexpected} />
          )}
        </Part>
      </div>
      <Part title="Statements and searches">
        {result === undefined ? <p class="quiet">They are shown once the tool has answered.</p> : null}
        <Read resource={requests}>
          {(data) => <Caused caused={data} line={line} others={toolsAtOnce(line, lines)} />}
        </Read>
      </Part>
      {result === undefined ? null : (
        <Part title="Rows that changed">
          <Read resource={changes}>{(data) => <Changes changes={data} />}</Read>
        </Part>
      )}
      <Part title="Webhook">
        <WebhookExchange webhook={line.call.webhook ?? result?.webhook} />
      </Part>
      <Part title="Reported to the engine">
        <Reported event={reportOf(line, lines, events)} />
      </Part>
    </div>
  );
}

/** Data, or why there is none yet. */
function Read<Data>({
  resource,
  children,
}: {
  resource: Resource<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  const { data, error, isLoading, reload } = resource;
  if (error) return <Failure error={error} retry={reload} />;
  if (data !== undefined) return <>{children(data)}</>;
  return isLoading ? <Loading /> : null;
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="call-part-of-tool">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Other tools of this call that ran at the same time. */
function toolsAtOnce(line: ToolLine, lines: readonly Line[]): string[] {
  return lines
    .filter(isTool)
    .filter((other) => other !== line && other.startMs < line.endMs && other.endMs > line.startMs)
    .map(({ call }) => call.name ?? "a tool");
}

interface CausedProps {
  caused: CausedRequests;
  line: ToolLine;
  others: readonly string[];
}

function Caused({ caused, line, others }: CausedProps) {
  const { requests, total, otherCalls, isClockMoved } = caused;
  const unsure = [
    ...(otherCalls > 0 ? [`${otherCalls === 1 ? "another call" : `${otherCalls} other calls`} ran`] : []),
    ...(others.length > 0 ? [`${others.join(" and ")} of this call ran`] : []),
  ];
  return (
    <>
      {unsure.length > 0 ? (
        <p class="notice warn">
          At the same time {unsure.join(", and ")}: some of this may be theirs. It is found by its time.
        </p>
      ) : null}
      {isClockMoved ? (
        <p class="notice warn">
          The sandbox's clock is not the machine's at the moment: this is found by the sandbox's time, among
          the newest requests.
        </p>
      ) : null}
      {requests.length === 0 ? (
        <p class="quiet">None reached a twin of this sandbox.</p>
      ) : (
        <ul class="call-requests">
          {requests.map((request) => (
            <CausedRequest key={`${request.twin} ${request.seq}`} request={request} line={line} />
          ))}
        </ul>
      )}
      {total > requests.length ? (
        <p class="quiet">
          The first {requests.length} of {total}; the journal has all.
        </p>
      ) : null}
    </>
  );
}

/** One request; what it asked and what was answered is read when it is opened. */
function CausedRequest({ request, line }: { request: RequestSummary; line: ToolLine }) {
  const [isOpen, setOpen] = useState(false);
  const { twin, seq, method, path, operation, status, duration_ms, sql, fault } = request;
  const { sandbox, rest } = place.value;
  const entry = useResource(isOpen ? `${sandbox} ${twin} ${seq}` : undefined, (signal) =>
    read<JournalEntry>(controlPath(sandbox, twin, `requests/${seq}`), signal),
  );
  const isBad = status !== null && status >= 400;
  const heldMs = heldFor(request, line);
  return (
    <li>
      <button type="button" class="call-tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="call-twist" aria-hidden="true" />
        <span class="tag">{twin}</span>
        <code class="call-statement">{dedent(sql ?? `${method} ${path}`)}</code>
        <span class="call-outcome">
          <span class={isBad ? "tag bad" : fault ? "tag warn" : "quiet"}>{status ?? "no answer"}</span>
          <span class="quiet">{formatDuration(duration_ms)}</span>
          {fault ? <span class="tag warn">fault {fault}</span> : null}
        </span>
      </button>
      {heldMs === undefined ? null : (
        <p class="call-held">
          The tool had given up after {formatDuration(heldMs)}
          {fault ? `: ${fault} held this until ${status === null ? "its end" : "it was let go"}` : ""}.
          {status !== null && status < 400 ? " What was answered came too late." : ""}
        </p>
      )}
      {isOpen ? (
        <div class="call-entry">
          <p class="quiet">
            {operation ?? `${method} ${path}`}
            {fault ? ` · ${fault}` : ""} ·{" "}
            <a href={hrefOf({ page: "journal", query: { twin, entry: entryText(request), call: rest[0] } })}>
              in the journal
            </a>
          </p>
          {entry.error ? <Failure error={entry.error} retry={entry.reload} /> : null}
          {entry.isLoading ? <Loading /> : null}
          {entry.data === undefined ? null : (
            <div class="columns">
              <div>
                <h4>Request</h4>
                <Json value={entry.data.body ?? { method, path, query: entry.data.query }} />
              </div>
              <div>
                <h4>Answer</h4>
                <Json value={entry.data.response?.body ?? null} />
              </div>
            </div>
          )}
        </div>
      ) : null}
    </li>
  );
}

/** Time after which the tool had given up on a request that lasted longer than the tool; `undefined`: it had not. */
function heldFor({ simulated_at, duration_ms }: RequestSummary, { result }: ToolLine): number | undefined {
  if (!result?.recorded_at) return undefined;
  const waitedMs = Date.parse(result.recorded_at) - Date.parse(simulated_at);
  const isOver = duration_ms !== null && duration_ms <= waitedMs + GIVE_UP_SLACK_MS;
  return isOver || waitedMs < 0 ? undefined : waitedMs;
}

/** A statement of several lines without the indentation that its source gave to all but the first. */
function dedent(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  const indents = rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const indent = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return [first, ...rest.map((line) => line.slice(indent))].join("\n");
}

const CHANGE_WORDS = { insert: "added", update: "changed", remove: "removed", reset: "reset" } as const;

function Changes({ changes }: { changes: readonly RowChange[] }) {
  if (changes.length === 0) return <p class="quiet">None.</p>;
  return (
    <ul class="call-requests">
      {changes.map((change, index) => (
        <li key={index} class="call-row-change">
          <span class={change.change === "remove" ? "tag bad" : "tag good"}>
            {CHANGE_WORDS[change.change]}
          </span>{" "}
          <a
            href={hrefOf({
              page: "world",
              rest: [change.twin, change.table],
              query: { row: rowKey(change) },
            })}
          >
            {change.twin}.{change.table}
          </a>
          <dl class="facts">
            {cellsOf(change).map(({ column, before, after }) => (
              <>
                <dt key={`${column} name`}>{column}</dt>
                <dd key={`${column} value`}>
                  {before === undefined ? null : (
                    <>
                      <del>{before}</del> →{" "}
                    </>
                  )}
                  {after}
                </dd>
              </>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

/** The key of a row that is still there, as the page World names it. */
function rowKey({ key, change }: RowChange): string | undefined {
  if (change === "remove" || change === "reset" || key === null || key === undefined) return undefined;
  return JSON.stringify(typeof key === "object" ? Object.values(key) : [key]);
}

/** The cells worth showing: of a changed row those that changed, where it is known what was before. */
function cellsOf({ row, before }: RowChange): { column: string; before?: string; after: string }[] {
  return Object.entries(row ?? before ?? {}).flatMap(([column, value]) => {
    const after = formatValue(value);
    if (before === undefined || row === undefined) return [{ column, after }];
    const was = formatValue(before[column]);
    return was === after ? [] : [{ column, before: was, after }];
  });
}

function WebhookExchange({ webhook }: { webhook: Webhook | null | undefined }) {
  if (!webhook) {
    return <p class="quiet">Not kept: only the exchanges of the newest calls are.</p>;
  }
  return (
    <>
      <p>
        <code>POST {webhook.url}</code>
      </p>
      <details>
        <summary>What was sent</summary>
        <Json value={webhook.request} />
      </details>
      <ol class="call-attempts">
        {webhook.attempts.map(({ at, status, answer, duration_ms, error }) => (
          <li key={at}>
            <span class={error || status === null || status >= 400 ? "tag bad" : "tag good"}>
              {status ?? "no answer"}
            </span>{" "}
            <span class="quiet">
              {formatMoment(at)}, {formatDuration(duration_ms)}
            </span>
            {error ? <p class="notice bad">{error}</p> : null}
            {answer === null ? null : <Json value={answer} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Reported({ event }: { event: SimulationEvent | undefined }) {
  if (event === undefined) {
    return <p class="quiet">No event agent_tool_call reports this call to the engine.</p>;
  }
  return (
    <details>
      <summary>
        agent_tool_call of {event.service}, {formatMoment(event.received_at)}
      </summary>
      <Json value={event.data} />
    </details>
  );
}

/** The event of a tool call: of several with the same name and arguments, the one at the same place among them. */
function reportOf(
  line: ToolLine,
  lines: readonly Line[],
  events: readonly SimulationEvent[],
): SimulationEvent | undefined {
  const signature = (name: unknown, args: unknown) => `${String(name)} ${JSON.stringify(args ?? {})}`;
  const own = signature(line.call.name, line.call.arguments);
  const place = lines
    .filter(isTool)
    .filter(({ call }) => signature(call.name, call.arguments) === own)
    .indexOf(line);
  return events.filter(
    ({ event_type, data }) =>
      event_type === "agent_tool_call" && signature(data.name, data.arguments) === own,
  )[place];
}
