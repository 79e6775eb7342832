/** How the call ended, and where to go from there. */
import type { CallDetail } from "../api/calls.ts";
import { hrefOf } from "../place.ts";
import type { CallEnd } from "./phone-call.ts";

export interface CallEndedProps {
  end: CallEnd;
  call: CallDetail | undefined;
}

const WHO = {
  caller: "You hung up",
  agent: "The agent ended the call",
  refused: "There was no call",
  browser: "There was no call",
} as const;

export function CallEnded({ end, call }: CallEndedProps) {
  const isGood = end.by === "caller" || end.code === 1000;
  return (
    <div class={`notice call-ended ${isGood ? "good" : "bad"}`} role="status">
      <div>
        <p>
          <strong>{WHO[end.by]}</strong>
          {end.by === "caller" ? null : `: ${end.reason}`} <span class="quiet">(code {end.code})</span>
        </p>
        {call?.ended_reason ? <p class="quiet">The runtime says: {call.ended_reason}</p> : null}
      </div>
      {call ? (
        <div class="end">
          <a class="button" href={hrefOf({ page: "calls", rest: [call.id] })}>
            Open the call
          </a>
        </div>
      ) : null}
    </div>
  );
}
