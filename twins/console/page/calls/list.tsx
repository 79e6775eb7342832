/** The list of calls, live. */
import "./list.css";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatMoment, formatTime } from "../ui/format.ts";
import { useThrottled } from "../ui/hooks.ts";
import { Heading, LiveTag } from "../ui/layout.tsx";
import { Pager } from "../ui/pager.tsx";
import { TableFrame } from "../ui/table.tsx";
import { explainFailure } from "./failures.ts";
import { type CallFilter, type CallRow, PAGE_ROWS, readCallPage } from "./list-data.ts";
import { Outcome } from "./verdict.tsx";

/** The list is read again at most so often. */
const REFRESH_MS = 300;

const SHOWN = [
  { value: "all", text: "All" },
  { value: "running", text: "Running" },
  { value: "failed", text: "Failed" },
  { value: "passed", text: "Passed" },
] as const;

const WATCHED: Readonly<Record<string, readonly string[]>> = {
  vapi: ["calls", "messages"],
  engine: ["events", "simulations"],
};

export function CallList() {
  const { sandbox, query } = place.value;
  const filter = readFilter(query);
  const { show, scenario, offset } = filter;
  const page = useResource(`${sandbox} ${show} ${scenario} ${offset}`, (signal) =>
    readCallPage(sandbox, filter, signal),
  );
  const refresh = useThrottled(page.reload, REFRESH_MS);
  useLive({
    change: ({ twin, table }) => {
      if (WATCHED[twin]?.includes(table)) refresh();
    },
    gap: refresh,
  });
  const { data } = page;
  return (
    <>
      <Heading title="Calls">
        <LiveTag />
      </Heading>
      <Filters filter={filter} scenarios={data?.scenarios ?? []} />
      {page.error ? <Failure error={page.error} retry={page.reload} /> : null}
      {page.isLoading ? <Loading /> : null}
      {data && data.rows.length === 0 ? <NoCalls filter={filter} /> : null}
      {data && data.rows.length > 0 ? <CallTable rows={data.rows} /> : null}
      {data ? (
        <Pager
          total={data.total}
          limit={PAGE_ROWS}
          offset={offset}
          onMove={(to) => setQuery({ offset: to === 0 ? undefined : String(to) })}
        />
      ) : null}
    </>
  );
}

function readFilter(query: URLSearchParams): CallFilter {
  const show = SHOWN.find(({ value }) => value === query.get("show"))?.value ?? "all";
  return { show, scenario: query.get("scenario") ?? "", offset: Number(query.get("offset") ?? 0) || 0 };
}

function Filters({ filter, scenarios }: { filter: CallFilter; scenarios: readonly string[] }) {
  const names = [...new Set([...scenarios, filter.scenario])].filter((name) => name !== "");
  return (
    <div class="toolbar">
      <nav class="call-choices" aria-label="Which calls">
        {SHOWN.map(({ value, text }) => (
          <a
            key={value}
            class="button small"
            href={hrefOf({
              rest: [],
              query: { show: value === "all" ? undefined : value, scenario: filter.scenario },
            })}
            aria-current={value === filter.show ? "true" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {names.length === 0 ? null : (
        <label class="call-inline-field">
          Scenario{" "}
          <select
            value={filter.scenario}
            onChange={({ currentTarget }) => setQuery({ scenario: currentTarget.value, offset: undefined })}
          >
            <option value="">any</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

function NoCalls({ filter: { show, scenario } }: { filter: CallFilter }) {
  if (show !== "all" || scenario !== "") {
    return (
      <Empty>
        No call is like that. <a href={hrefOf({ rest: [], query: {} })}>Show all calls</a>
      </Empty>
    );
  }
  return (
    <Empty>
      No calls yet. Place one with <code>npm run dial</code>, or <a href={hrefOf({ page: "talk" })}>talk</a>{" "}
      to the agent from here.
    </Empty>
  );
}

function CallTable({ rows }: { rows: readonly CallRow[] }) {
  return (
    <TableFrame
      label="Calls"
      columns={[
        "When",
        "Scenario",
        "Outcome",
        { title: "Duration", kind: "number" },
        { title: "Turns", kind: "number" },
        { title: "Slowest response", kind: "number" },
        "Tools",
        "Failed expectations",
      ]}
    >
      {rows.map((row) => (
        <Row key={row.call?.id ?? row.simulation?.id} row={row} />
      ))}
    </TableFrame>
  );
}

function Row({ row: { call, simulation } }: { row: CallRow }) {
  const at = call?.started_at ?? call?.created_at;
  const name = simulation?.scenario ?? call?.name ?? (call?.simulation_id ? "simulation" : "call");
  const failures = simulation?.verdict?.failures ?? [];
  return (
    <tr class="call-row">
      <td title={formatMoment(at)}>{formatTime(at)}</td>
      <th scope="row">
        {call === undefined ? name : <a href={hrefOf({ rest: [call.id], query: {} })}>{name}</a>}
      </th>
      <td>
        <Outcome call={call} verdict={simulation?.verdict} />
      </td>
      <td class="number">{formatDuration(call?.duration_ms)}</td>
      <td class="number">
        {call?.turns ?? "—"}
        {call && call.unrecognised > 0 ? (
          <span class="quiet"> (+{call.unrecognised} not recognised)</span>
        ) : null}
      </td>
      <td class="number">{formatDuration(call?.slowest_response_ms)}</td>
      <td>
        <span class="call-tools">{toolsOf(call?.tool_calls ?? [])}</span>
      </td>
      <td>
        {failures.length === 0 ? (
          <span class="quiet">—</span>
        ) : (
          <span class="call-failure" title={failures.map(plainFailure).join("\n")}>
            <span class="call-failure-text">{plainFailure(failures[0])}</span>
            {failures.length > 1 ? <span class="tag bad">+{failures.length - 1}</span> : null}
          </span>
        )}
      </td>
    </tr>
  );
}

/** In the words of the call's page, as far as the text alone tells. */
function plainFailure(text = ""): string {
  return explainFailure(text, { lines: [], durationMs: 0 }).words;
}

/** `open_incident, who_is_on_call ×2`. */
function toolsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const texts = [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  return texts.length === 0 ? "—" : texts.join(", ");
}
