/** How a call came out: passed, failed with the reasons in plain words, ended, running. */
import { hrefOf, place } from "../place.ts";
import { formatPosition } from "../ui/format.ts";
import { type ExplainedFailure, type FailurePlace, type Filter, groupFailures } from "./failures.ts";
import type { Line } from "./timeline.ts";
import type { CallReport, CallSummary, Verdict } from "./types.ts";

export interface OutcomeProps {
  call: Pick<CallSummary, "status" | "ended_reason"> | undefined;
  verdict: Verdict | null | undefined;
}

/** One tag: the caller's verdict, or else why the call ended. */
export function Outcome({ call, verdict }: OutcomeProps) {
  if (verdict) {
    return (
      <span class={verdict.passed ? "tag good" : "tag bad"}>{verdict.passed ? "passed" : "failed"}</span>
    );
  }
  if (call === undefined) return <span class="tag">no call</span>;
  if (call.status === "in-progress") return <span class="tag accent">running</span>;
  if (call.status === "queued") return <span class="tag">waits for its caller</span>;
  return <span class="tag">{plainReason(call.ended_reason)}</span>;
}

/** `customer-ended-call` in plain words. */
export function plainReason(reason: string | null): string {
  return reason === null ? "ended" : reason.replaceAll("-", " ").replaceAll(".", ": ");
}

export interface FailuresProps {
  report: CallReport;
  explained: readonly ExplainedFailure[];
  lines: readonly Line[];
  onGo(place: Extract<FailurePlace, { kind: "line" | "moment" }>): void;
}

/** Failed expectations, each with a way to what it is about; and what could not be checked. */
export function Failures({ report, explained, lines, onGo }: FailuresProps) {
  const { failures, unchecked } = report;
  if (failures.length === 0 && unchecked.length === 0) return null;
  return (
    <section
      class={failures.length > 0 ? "notice bad call-failures" : "call-failures"}
      aria-label={failures.length > 0 ? "Failed expectations" : "Expectations"}
    >
      {explained.length > 0 ? (
        <>
          <h2>
            {explained.length === 1 ? "1 failed expectation" : `${explained.length} failed expectations`}
          </h2>
          <ul>
            {groupFailures(explained, lines).map(({ consequences, ...failure }) => (
              <li key={failure.text}>
                <Reason failure={failure} onGo={onGo} />
                {consequences.length === 0 ? null : (
                  <details>
                    <summary>
                      {consequences.length === 1 ? "1 expectation" : `${consequences.length} expectations`}{" "}
                      that failed after it, and may follow from it
                    </summary>
                    <ul>
                      {consequences.map((each) => (
                        <li key={each.text}>
                          <Reason failure={each} onGo={onGo} />
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {unchecked.length > 0 ? (
        <details>
          <summary class="quiet">
            {unchecked.length === 1 ? "1 expectation was" : `${unchecked.length} expectations were`} not
            checked
          </summary>
          <ul>
            {unchecked.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  );
}

interface ReasonProps {
  failure: ExplainedFailure;
  onGo: FailuresProps["onGo"];
}

function Reason({ failure, onGo }: ReasonProps) {
  return (
    <>
      <span title={failure.text}>{failure.words}</span>{" "}
      {failure.place ? <PlaceLink place={failure.place} onGo={onGo} /> : null}
    </>
  );
}

/** What the journal can be filtered by. */
const JOURNAL_FILTERS = ["operation", "method", "status"];

function prefixed(where: Filter): Filter {
  return Object.fromEntries(Object.entries(where).map(([column, value]) => [`where.${column}`, value]));
}

function PlaceLink({ place: where, onGo }: { place: FailurePlace; onGo: FailuresProps["onGo"] }) {
  if (where.kind === "rows") {
    const query = prefixed(where.where);
    const href = hrefOf({ page: "world", rest: [where.twin, where.table], query });
    return <a href={href}>Show the rows of {where.table}</a>;
  }
  if (where.kind === "requests") {
    const filters = Object.entries(where.where).filter(([name]) => JOURNAL_FILTERS.includes(name));
    const query = { twin: where.twin, ...Object.fromEntries(filters) };
    return <a href={hrefOf({ page: "journal", query })}>Show the requests to {where.twin}</a>;
  }
  const ms = where.kind === "line" ? where.line.startMs : where.ms;
  const isTool = where.kind === "line" && where.line.kind === "tool";
  const query = {
    t: String(Math.round(ms)),
    tool: isTool && where.kind === "line" ? where.line.id : undefined,
    line: where.kind === "line" ? where.line.id : undefined,
  };
  return (
    <a
      href={hrefOf({ rest: place.value.rest, query })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onGo(where);
      }}
    >
      {isTool ? "Show the tool call" : `Go to ${formatPosition(ms)}`}
    </a>
  );
}
