/** The journal: every request to every twin of the sandbox in one table. */
import "./journal.css";
import { queryText, read } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import type { RequestSummary } from "../api/types.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatTime } from "../ui/format.ts";
import { useThrottled } from "../ui/hooks.ts";
import { useKeys } from "../ui/keys.tsx";
import { Heading, LiveTag } from "../ui/layout.tsx";
import { Pager } from "../ui/pager.tsx";
import { TableFrame } from "../ui/table.tsx";
import { EntryPanel } from "./entry.tsx";
import { FilterBar, readFilters, tierOf } from "./filters.tsx";
import { entryText, readEntryPlace } from "./types.ts";

const PAGE_ROWS = 100;
/** At most so often a page is read again because requests come. */
const REFRESH_MS = 500;

interface RequestPage {
  requests: RequestSummary[];
  total: number;
  dropped: { vendor: number; control: number };
}

export function Journal() {
  const { sandbox, query } = place.value;
  const filters = readFilters(query);
  const offset = Number(query.get("offset") ?? 0) || 0;
  const shownTier = tierOf(filters);
  const tier = shownTier === "all" ? undefined : shownTier;
  const search = queryText({ ...filters, tier, order: "newest", limit: PAGE_ROWS, offset });
  const path = `/sandboxes/${encodeURIComponent(sandbox)}/requests${search}`;
  const page = useResource(path, (signal) => read<RequestPage>(path, signal));
  const chosen = readEntryPlace(query.get("entry"));
  useRefresh(page.reload, (request) => offset === 0 && (tier === undefined || request.tier === tier));
  const rows = page.data?.requests ?? [];
  useRowKeys(rows, chosen && entryText(chosen));
  return (
    <>
      <Heading title="Journal">
        <LiveTag />
      </Heading>
      <FilterBar filters={filters} />
      {page.error ? <Failure error={page.error} retry={page.reload} /> : null}
      {page.isLoading ? <Loading /> : null}
      {chosen ? (
        <EntryPanel of={chosen} onClose={() => setQuery({ entry: undefined, call: undefined })} />
      ) : null}
      {page.data && rows.length === 0 ? (
        <Empty>
          {Object.keys(filters).length > 0
            ? "No request matches the filters."
            : "Nothing was asked of the twins yet."}
        </Empty>
      ) : null}
      {rows.length > 0 ? <Requests rows={rows} chosen={chosen && entryText(chosen)} /> : null}
      {page.data ? (
        <div class="toolbar">
          <Pager
            total={page.data.total}
            limit={PAGE_ROWS}
            offset={offset}
            onMove={(to) => setQuery({ offset: to === 0 ? undefined : String(to) })}
          />
          <Dropped {...page.data.dropped} />
        </div>
      ) : null}
    </>
  );
}

/** The journal keeps the newest requests; says how many it no longer has. */
function Dropped({ vendor, control }: RequestPage["dropped"]) {
  const all = vendor + control;
  return all === 0 ? null : (
    <span class="quiet">{all.toLocaleString()} older requests are no longer kept</span>
  );
}

function Requests({ rows, chosen }: { rows: readonly RequestSummary[]; chosen: string | undefined }) {
  return (
    <TableFrame
      label="Requests"
      columns={[
        "Time",
        "Twin",
        "Request",
        "Status",
        { title: "Duration", kind: "number" },
        "SQL, notes, faults",
      ]}
    >
      {rows.map((row) => (
        <RequestRow key={entryText(row)} row={row} isChosen={entryText(row) === chosen} />
      ))}
    </TableFrame>
  );
}

function RequestRow({ row, isChosen }: { row: RequestSummary; isChosen: boolean }) {
  const { rest, query } = place.value;
  const href = hrefOf({
    rest,
    query: { ...Object.fromEntries(query), entry: entryText(row), call: undefined },
  });
  return (
    <tr class={isChosen ? "selected" : ""}>
      <td class="nowrap">{formatTime(row.received_at)}</td>
      <td class="nowrap">
        {row.twin}
        {row.tier === "control" ? <span class="quiet"> control</span> : null}
      </td>
      <td class="cut">
        <a href={href} aria-current={isChosen ? "true" : undefined}>
          {row.operation ?? "unknown"}
        </a>{" "}
        <span class="quiet mono">
          {row.method} {row.path}
        </span>
      </td>
      <td>
        <StatusTag status={row.status} />
      </td>
      <td class="number nowrap">{formatDuration(row.duration_ms)}</td>
      <td class="cut">
        {row.fault === null ? null : <span class="tag warn">{row.fault}</span>}
        {row.sql === null ? null : <code>{row.sql}</code>}
        {row.sql === null && row.notes ? <span class="quiet">notes</span> : null}
      </td>
    </tr>
  );
}

function StatusTag({ status }: { status: number | null }) {
  if (status === null) return <span class="tag">none</span>;
  const className = status >= 500 ? "tag bad" : status >= 400 ? "tag warn" : "tag good";
  return <span class={className}>{status}</span>;
}

/** Reads again soon after requests came, however many. @param concerns whether a request may be among those shown */
function useRefresh(reload: () => void, concerns: (request: RequestSummary) => boolean): void {
  const refresh = useThrottled(reload, REFRESH_MS);
  useLive({
    request: (request) => {
      if (concerns(request)) refresh();
    },
    gap: refresh,
  });
}

function useRowKeys(rows: readonly RequestSummary[], chosen: string | undefined): void {
  const move = (step: number) => {
    const index = rows.findIndex((row) => entryText(row) === chosen);
    const next = rows[index < 0 ? 0 : index + step];
    if (next) setQuery({ entry: entryText(next), call: undefined });
  };
  useKeys([
    { keys: "j", what: "next request", run: () => move(1) },
    { keys: "k", what: "request before", run: () => move(-1) },
    { keys: "Escape", what: "close the request", run: () => setQuery({ entry: undefined, call: undefined }) },
  ]);
}
