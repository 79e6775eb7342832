/** One request, whole: what was asked, what was answered, and what the twin did for it. */
import { controlPath, read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatMoment } from "../ui/format.ts";
import { CopyButton, Json } from "../ui/json.tsx";
import { curlOf } from "./curl.ts";
import type { EntryPlace, JournalEntry } from "./types.ts";

export function EntryPanel({ of, onClose }: { of: EntryPlace; onClose(): void }) {
  const { sandbox } = place.value;
  const path = controlPath(sandbox, of.twin, `requests/${of.seq}`);
  const {
    data: entry,
    error,
    isLoading,
    reload,
  } = useResource(path, (signal) => read<JournalEntry>(path, signal));
  const call = callOf(of, entry);
  return (
    <section class="card entry" aria-label="The request">
      <div class="heading">
        <h2>
          {of.twin} {entry?.operation ?? `request ${of.seq}`}
        </h2>
        <div class="end">
          {call === undefined ? null : (
            <a class="button small" href={hrefOf({ page: "calls", rest: [call] })}>
              Show the call
            </a>
          )}
          {entry ? <CopyAsCurl entry={entry} of={of} /> : null}
          <button type="button" class="button small" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
      {error ? <Failure error={error} retry={reload} /> : null}
      {isLoading ? <Loading /> : null}
      {entry ? <Entry entry={entry} twin={of.twin} /> : null}
    </section>
  );
}

/** The call that the request is about: a request to another twin than the runtime's is known by the call that it was found by. */
function callOf({ twin }: EntryPlace, entry: JournalEntry | undefined): string | undefined {
  const found = place.value.query.get("call");
  if (found !== null) return found;
  return twin === "vapi" ? /^\/call\/([^/]+)/.exec(entry?.path ?? "")?.[1] : undefined;
}

function CopyAsCurl({ entry, of: { twin } }: { entry: JournalEntry; of: EntryPlace }) {
  const curl = curlOf(entry, { baseUrl: window.location.origin, sandbox: place.value.sandbox, twin });
  return curl === undefined ? null : <CopyButton text={curl}>Copy as curl</CopyButton>;
}

function Entry({ entry, twin }: { entry: JournalEntry; twin: string }) {
  const { response } = entry;
  return (
    <>
      <dl class="facts">
        <dt>Request</dt>
        <dd class="mono">
          {entry.method} {entry.path}
          {Object.keys(entry.query).length > 0 ? `?${new URLSearchParams(entry.query)}` : ""}
        </dd>
        <dt>Answer</dt>
        <dd>
          {entry.status ?? (response ? "none: the connection ended" : "not yet")},{" "}
          {formatDuration(entry.duration_ms)}
        </dd>
        <dt>When</dt>
        <dd>
          {formatMoment(entry.received_at)}
          {entry.simulated_at === entry.received_at
            ? ""
            : `; in the sandbox ${formatMoment(entry.simulated_at)}`}
        </dd>
        {entry.fault === null ? null : (
          <>
            <dt>Fault</dt>
            <dd>
              <a href={hrefOf({ page: "faults", rest: [twin], query: { fault: entry.fault.split(" ")[0] } })}>
                {entry.fault}
              </a>
            </dd>
          </>
        )}
      </dl>
      {entry.notes === null ? null : <Part title="What the twin did" value={entry.notes} />}
      <Part title="Request body" value={entry.body} />
      <Part title="Answer body" value={response?.body} />
      <Headers title="Request headers" headers={entry.headers} />
      {response ? <Headers title="Answer headers" headers={response.headers} /> : null}
    </>
  );
}

function Part({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <details open>
      <summary>{title}</summary>
      <Json value={value} />
    </details>
  );
}

function Headers({ title, headers }: { title: string; headers: Record<string, string> }) {
  return (
    <details>
      <summary>{title}</summary>
      <dl class="facts mono">
        {Object.entries(headers).map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={`${name} value`}>{value}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}
