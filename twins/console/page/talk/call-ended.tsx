/** How the call ended, and where to go from there. */
import { useMemo, useState } from "preact/hooks";
import { scenarioOf } from "../calls/scenario.ts";
import { timelineOf } from "../calls/timeline.ts";
import type { CallDetails } from "../calls/types.ts";
import { hrefOf } from "../place.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useObjectUrl } from "../ui/hooks.ts";
import { CopyButton, Json } from "../ui/json.tsx";
import type { CallEnd } from "./phone-call.ts";
import type { Sample } from "./speech.ts";

export interface CallEndedProps {
  end: CallEnd;
  call: CallDetails | undefined;
  samples: readonly Sample[];
}

const WHO = {
  caller: "You hung up",
  agent: "The agent ended the call",
  refused: "There was no call",
  browser: "There was no call",
} as const;

export function CallEnded({ end, call, samples }: CallEndedProps) {
  const [isKept, setIsKept] = useState(false);
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
          <button type="button" class="button" onClick={() => setIsKept(true)}>
            Keep as scenario
          </button>
          <a class="button" href={hrefOf({ page: "calls", rest: [call.id] })}>
            Open the call
          </a>
        </div>
      ) : null}
      {call && isKept ? (
        <KeepScenario call={call} samples={samples} onClose={() => setIsKept(false)} />
      ) : null}
    </div>
  );
}

interface KeepScenarioProps {
  call: CallDetails;
  samples: readonly Sample[];
  onClose(): void;
}

/** The scenario that places the call again, to copy and to download. */
function KeepScenario({ call, samples, onClose }: KeepScenarioProps) {
  const scenario = useMemo(() => {
    const lines = timelineOf(call.messages, undefined);
    return scenarioOf({ call, lines, report: undefined, simulation: undefined, samples });
  }, [call, samples]);
  const file = useMemo(() => new Blob([scenario.text], { type: "application/yaml" }), [scenario]);
  return (
    <Dialog title="Keep as scenario" onClose={onClose}>
      <p>
        Saved as <code>samples/scenarios/{scenario.file}</code>, it is run by{" "}
        <code>npm run dial -- {scenario.file.replace(/\.yaml$/, "")}</code> and by the tests.
      </p>
      <Json value={scenario.text} />
      <div class="actions">
        <CopyButton text={scenario.text}>Copy</CopyButton>
        <a class="button small" href={useObjectUrl(file)} download={scenario.file}>
          Download
        </a>
      </div>
    </Dialog>
  );
}
