/** One call of a campaign: its verdict, and what was kept of it. */
import { read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatMoment } from "../ui/format.ts";
import { Json } from "../ui/json.tsx";
import { Heading } from "../ui/layout.tsx";
import type { WholeCall } from "./types.ts";
import { StateTag } from "./words.tsx";

/** @param path campaign, scenario, variant and number of the call */
export function Call({ path }: { path: readonly string[] }) {
  const [id = "", scenario = "", variant = "", repeat = ""] = path;
  const address = `/campaigns/${[id, "calls", scenario, variant, repeat].map(encodeURIComponent).join("/")}`;
  const { data, error, reload } = useResource(address, (signal) => read<WholeCall>(address, signal));
  return (
    <>
      <nav aria-label="Back">
        <a href={hrefOf({ page: "campaigns", rest: [id], query: { scenario, variant } })}>
          {scenario}, {variant}
        </a>
      </nav>
      <Heading title={`${scenario}, ${variant}, call ${repeat}`}>
        {data ? <StateTag state={data.call.verdict} /> : null}
      </Heading>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data ? <Details {...data} address={address} /> : error ? null : <Loading />}
    </>
  );
}

function Details({ call, kept, address }: WholeCall & { address: string }) {
  return (
    <>
      {call.failures.length === 0 ? null : (
        <div class="notice bad">
          {call.failures.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <dl class="facts">
        <dt>When</dt>
        <dd>{formatMoment(call.started_at)}</dd>
        <dt>Duration</dt>
        <dd>{formatDuration(call.duration_ms)}</dd>
        <dt>Responses</dt>
        <dd>
          {call.response_ms.map(formatDuration).join(", ") || "—"}
          {call.held_up ? " (a busy machine held the call up: they are not counted)" : ""}
        </dd>
        <dt>Worker</dt>
        <dd>
          {call.worker}, {call.attempts === 1 ? "1 attempt" : `${call.attempts} attempts`}
        </dd>
      </dl>
      {kept === null ? <p class="quiet">Nothing else was kept of this call.</p> : null}
      {kept?.omitted.map((text) => (
        <p key={text}>{text}</p>
      ))}
      {kept?.audio_bytes ? (
        // biome-ignore lint/a11y/useMediaCaption: the report below has its words
        <audio controls preload="metadata" src={`${address}/audio`} aria-label="The call" />
      ) : null}
      {[
        { title: "Report", value: kept?.report },
        { title: "Trace", value: kept?.trace },
      ].map(({ title, value }) =>
        value ? (
          <details key={title}>
            <summary>{title}</summary>
            <Json value={value} />
          </details>
        ) : null,
      )}
    </>
  );
}
