/** One campaign: what passes where, what is flaky, why calls fail, and what differs from a baseline. */
import { queryText, read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { ChoiceField } from "../ui/field.tsx";
import { formatDuration, formatMoment } from "../ui/format.ts";
import { Heading } from "../ui/layout.tsx";
import { TableFrame } from "../ui/table.tsx";
import { CallTable } from "./call-table.tsx";
import type { CampaignList, CampaignReport, Cell } from "./types.ts";
import { rateText, StateTag, usePolling } from "./words.tsx";

/** Rows of the grid; the rest is in the report. */
const MAX_ROWS = 200;
const NO_BASELINE = "none";

export function Campaign({ id }: { id: string }) {
  const { query } = place.value;
  const baseline = query.get("baseline") ?? undefined;
  const resource = useResource(`${id} ${baseline}`, (signal) =>
    read<CampaignReport>(`/campaigns/${encodeURIComponent(id)}/report${queryText({ baseline })}`, signal),
  );
  const { data, error, reload } = resource;
  usePolling(resource, data?.campaign.state === "running");
  return (
    <>
      <nav aria-label="Back">
        <a href={hrefOf({ page: "campaigns" })}>All campaigns</a>
      </nav>
      <Heading title={data?.campaign.name ?? "Campaign"}>
        {data ? <StateTag state={data.campaign.state} /> : null}
      </Heading>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data ? <Report report={data} /> : error ? null : <Loading />}
      {query.get("variant") === null ? null : (
        <CallTable id={id} isRunning={data?.campaign.state === "running"} />
      )}
    </>
  );
}

function Report({ report }: { report: CampaignReport }) {
  const { campaign, headline, total, flaky, failures } = report;
  const { response } = total;
  const passHat = total.pass_hat.filter(({ k }) => k > 1);
  return (
    <>
      <p role="status">{headline}</p>
      <dl class="facts">
        <dt>Since</dt>
        <dd>{formatMoment(campaign.created_at)}</dd>
        {campaign.ended_at === null ? null : (
          <>
            <dt>Ended</dt>
            <dd>{formatMoment(campaign.ended_at)}</dd>
          </>
        )}
        {passHat.length === 0 ? null : (
          <>
            <dt>All of k calls pass</dt>
            <dd>{passHat.map(({ k, value }) => `k = ${k}: ${(value * 100).toFixed(1)} %`).join(", ")}</dd>
          </>
        )}
        {response === null ? null : (
          <>
            <dt>Responses</dt>
            <dd>
              p50 {formatDuration(response.p50_ms)}, p95 {formatDuration(response.p95_ms)}, {response.turns}{" "}
              turns
            </dd>
          </>
        )}
        {total.held_up === 0 ? null : (
          <>
            <dt>Held up</dt>
            <dd>
              {total.held_up} of {total.calls} calls, by a machine too busy for the speed: no response of
              theirs is counted
            </dd>
          </>
        )}
      </dl>
      {flaky.length === 0 ? null : (
        <section class="notice warn">
          <h2>Flaky</h2>
          <ul>
            {flaky.slice(0, MAX_ROWS).map((cell) => (
              <li key={`${cell.scenario} ${cell.variant}`}>
                <a href={callsHref(cell)}>
                  {cell.scenario}, {cell.variant}
                </a>
                : {cell.passed} of {cell.passed + cell.failed} passed
              </li>
            ))}
          </ul>
        </section>
      )}
      <Grid report={report} />
      {failures.length === 0 ? null : (
        <section class="card">
          <h2>Failures</h2>
          <ul>
            {failures.map(({ words, verdict, calls }) => (
              <li key={verdict + words}>
                {calls} × {verdict === "error" ? "not judged: " : ""}
                {words}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Baseline report={report} />
    </>
  );
}

function callsHref({ scenario, variant }: Cell): string {
  const { rest, query } = place.value;
  return hrefOf({ rest, query: { baseline: query.get("baseline") ?? undefined, scenario, variant } });
}

function Grid({ report: { scenarios, variants, cells } }: { report: CampaignReport }) {
  const byName = new Map(cells.map((cell) => [`${cell.scenario} ${cell.variant}`, cell]));
  return (
    <TableFrame
      label="Scenarios and variants"
      columns={["Scenario", ...variants.map(({ variant }) => variant)]}
    >
      {scenarios.slice(0, MAX_ROWS).map(({ scenario }) => (
        <tr key={scenario}>
          <th scope="row">{scenario}</th>
          {variants.map(({ variant }) => (
            <GridCell key={variant} cell={byName.get(`${scenario} ${variant}`)} />
          ))}
        </tr>
      ))}
    </TableFrame>
  );
}

const WELL = 0.9;

function GridCell({ cell }: { cell: Cell | undefined }) {
  if (!cell || cell.calls === 0) return <td class="quiet">no calls yet</td>;
  const { pass_rate: rate, passed, failed, errors, response } = cell;
  const value = rate?.value ?? 0;
  const tone = rate === null || value < WELL ? "bad" : value < 1 ? "warn" : "good";
  return (
    <td>
      <a class={`tag ${tone}`} href={callsHref(cell)}>
        {passed} of {passed + failed}
      </a>{" "}
      {cell.flaky ? <span class="tag warn">flaky</span> : null}
      {errors > 0 ? <span class="tag warn">{errors} not judged</span> : null}
      <div class="quiet">
        {rateText(rate)}
        {response ? `, p50 ${formatDuration(response.p50_ms)}, p95 ${formatDuration(response.p95_ms)}` : ""}
      </div>
    </td>
  );
}

function Baseline({ report: { campaign, comparison } }: { report: CampaignReport }) {
  const { data } = useResource("campaigns", (signal) => read<CampaignList>("/campaigns", signal));
  const others = (data?.campaigns ?? []).filter(({ id }) => id !== campaign.id);
  const words = comparison?.words;
  if (others.length === 0) return null;
  return (
    <section class="card">
      <ChoiceField
        label="Compared with"
        value={comparison?.baseline.id ?? NO_BASELINE}
        options={[
          { value: NO_BASELINE, text: "nothing" },
          ...others.map(({ id, name, created_at }) => ({
            value: id,
            text: `${name}, ${formatMoment(created_at)}`,
          })),
        ]}
        onChoose={(baseline) => setQuery({ baseline })}
      />
      {words ? (
        <>
          <p>{words.overall}</p>
          <ul>
            {words.beyond_chance.map((text) => (
              <li key={text}>
                <strong>{text}</strong>
              </li>
            ))}
            {words.others.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  );
}
