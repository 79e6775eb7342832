/** The calls of a scenario under a variant, a page at a time. */
import { queryText, read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Empty, Failure } from "../ui/feedback.tsx";
import { ChoiceField } from "../ui/field.tsx";
import { formatDuration } from "../ui/format.ts";
import { TableFrame } from "../ui/table.tsx";
import type { CallPage } from "./types.ts";
import { StateTag, usePolling } from "./words.tsx";

const CHOSEN = ["scenario", "variant", "verdict", "after"];

export function CallTable({ id, isRunning }: { id: string; isRunning: boolean }) {
  const { query } = place.value;
  const chosen = Object.fromEntries(CHOSEN.map((name) => [name, query.get(name) ?? undefined]));
  const asked = queryText(chosen);
  const resource = useResource(id + asked, (signal) =>
    read<CallPage>(`/campaigns/${encodeURIComponent(id)}/calls${asked}`, signal),
  );
  const { data, error, reload } = resource;
  usePolling(resource, isRunning);
  const label = `Calls of ${chosen.scenario}, ${chosen.variant}`;
  return (
    <section class="card" aria-label={label}>
      <h2>{label}</h2>
      <ChoiceField
        label="Verdict"
        value={chosen.verdict ?? ""}
        options={[{ value: "", text: "any" }, "passed", "failed", { value: "error", text: "not judged" }]}
        onChoose={(verdict) => setQuery({ verdict, after: undefined })}
      />
      {error ? <Failure error={error} retry={reload} /> : null}
      {data?.calls.length === 0 ? <Empty>No call is like that.</Empty> : null}
      {data && data.calls.length > 0 ? (
        <TableFrame
          label={label}
          columns={[
            { title: "Call", kind: "number" },
            "Verdict",
            { title: "Duration", kind: "number" },
            "Failures",
            "Worker",
            { title: "Attempts", kind: "number" },
          ]}
        >
          {data.calls.map(({ scenario, variant, repeat, verdict, failures, ...call }) => (
            <tr key={repeat}>
              <th scope="row" class="number">
                <a href={hrefOf({ rest: [id, scenario, variant, String(repeat)] })}>{repeat}</a>
              </th>
              <td>
                <StateTag state={verdict} />
              </td>
              <td class="number">{formatDuration(call.duration_ms)}</td>
              <td>{failures.join("; ") || "—"}</td>
              <td>{call.worker}</td>
              <td class="number">{call.attempts}</td>
            </tr>
          ))}
        </TableFrame>
      ) : null}
      {data?.next ? (
        <button
          type="button"
          class="button small"
          onClick={() => setQuery({ after: data.next ?? undefined })}
        >
          Next calls
        </button>
      ) : null}
    </section>
  );
}
