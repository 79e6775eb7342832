/** Campaigns: the list, one of them, or one of its calls, as the address names them. */
import { read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { formatMoment, formatTime } from "../ui/format.ts";
import { Heading } from "../ui/layout.tsx";
import { TableFrame } from "../ui/table.tsx";
import { Call } from "./call.tsx";
import { Campaign } from "./campaign.tsx";
import type { CampaignList } from "./types.ts";
import { rateText, StateTag, usePolling } from "./words.tsx";

export function Campaigns() {
  const [id, ...call] = place.value.rest;
  if (id === undefined) return <List />;
  return call.length === 3 ? <Call path={[id, ...call]} /> : <Campaign key={id} id={id} />;
}

function List() {
  const list = useResource("campaigns", (signal) => read<CampaignList>("/campaigns", signal));
  const { data, error, isLoading, reload } = list;
  usePolling(list, true);
  return (
    <>
      <Heading title="Campaigns" />
      {error ? <Failure error={error} retry={reload} /> : null}
      {isLoading ? <Loading /> : null}
      {data?.database === "asleep" ? (
        <p class="notice warn" role="status">
          {data.message}. This page shows them as soon as it runs.
        </p>
      ) : null}
      {data?.campaigns.length === 0 ? (
        <Empty>
          A campaign calls the agent many times, every scenario under every variant, and counts how often it
          passes. <code>npm run campaign -- start --scenarios all --repeat 10</code> starts one.
        </Empty>
      ) : null}
      {data && data.campaigns.length > 0 ? <Table {...data} /> : null}
    </>
  );
}

function Table({ campaigns }: CampaignList) {
  return (
    <TableFrame
      label="Campaigns"
      columns={[
        "Started",
        "Campaign",
        "State",
        { title: "Calls", kind: "number" },
        { title: "Passed (95 %)", kind: "number" },
        { title: "Not judged", kind: "number" },
        { title: "Calls a minute", kind: "number" },
      ]}
    >
      {campaigns.map(({ id, name, state, ...it }) => (
        <tr key={id}>
          <td title={formatMoment(it.created_at)}>{formatTime(it.created_at)}</td>
          <th scope="row">
            <a href={hrefOf({ rest: [id] })}>{name}</a>
          </th>
          <td>
            <StateTag state={state} />
          </td>
          <td class="number">
            {it.calls} of {it.expected_calls}
          </td>
          <td class="number">{rateText(it.pass_rate)}</td>
          <td class="number">{it.errors}</td>
          <td class="number">{state === "running" ? it.last_minute : "—"}</td>
        </tr>
      ))}
    </TableFrame>
  );
}
