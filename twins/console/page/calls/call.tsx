/** One call: its sound, its transcript, its tools, and why it failed. */
import "./call.css";
import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { controlPath, read } from "../api/client.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration, formatMoment } from "../ui/format.ts";
import { CopyButton } from "../ui/json.tsx";
import { Heading, LiveTag } from "../ui/layout.tsx";
import { type CallRecord, useCall } from "./call-data.ts";
import { explainFailure } from "./failures.ts";
import { usePeaks } from "./peaks.ts";
import { Player } from "./player.ts";
import { PlayerBar } from "./player-bar.tsx";
import { scenarioOf } from "./scenario.ts";
import { type Line, timelineOf } from "./timeline.ts";
import { elementId, Transcript } from "./transcript.tsx";
import type { CallDetails } from "./types.ts";
import { Failures, Outcome, plainReason } from "./verdict.tsx";
import { Waveform } from "./waveform.tsx";

export function Call({ id }: { id: string }) {
  const { sandbox } = place.value;
  const record = useCall(sandbox, id);
  const { data, error, reload } = record.call;
  if (data === undefined) {
    return (
      <>
        <CallHeading title="Call" />
        {error ? <Failure error={error} retry={reload} /> : <Loading />}
      </>
    );
  }
  return <CallView call={data} record={record} sandbox={sandbox} />;
}

function CallHeading({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <>
      <nav aria-label="Back">
        <a href={hrefOf({ page: "calls" })}>All calls</a>
      </nav>
      <Heading title={title}>{children}</Heading>
    </>
  );
}

interface CallViewProps {
  call: CallDetails;
  record: CallRecord;
  sandbox: string;
}

function CallView({ call, record, sandbox }: CallViewProps) {
  const { simulation, events, report } = record;
  const speed = simulation?.metadata.speed ?? 1;
  const lines = useMemo(() => timelineOf(call.messages, report, speed), [call.messages, report, speed]);
  const { peaks, error } = usePeaks(sandbox, call.id, call.status);
  // A recording ends a moment after its call.
  const durationMs = call.duration_ms || Math.max(peaks?.durationMs ?? 0, lines.at(-1)?.endMs ?? 0);
  const explained = useMemo(
    () => (report?.failures ?? []).map((text) => explainFailure(text, { lines, durationMs })),
    [report, lines, durationMs],
  );
  const player = usePlayer();
  const [follows, setFollows] = useState(true);
  const { open, toggle } = useOpenTools();
  const goTo = (line: Line) => {
    player.seek(line.startMs);
    setQuery({ line: line.id });
    if (line.kind === "tool" && !open.has(line.id)) toggle(line.id);
    const element = document.getElementById(elementId(line));
    element?.scrollIntoView({ block: "nearest" });
  };
  const title = simulation?.scenario ?? call.name ?? (call.simulation_id ? "simulation" : "call");
  return (
    <>
      <CallHeading title={title}>
        <Outcome call={call} verdict={report} />
        {call.status === "ended" ? null : <LiveTag />}
        <CopyScenario sandbox={sandbox} call={call} record={record} lines={lines} />
      </CallHeading>
      <Facts call={call} record={record} durationMs={durationMs} />
      {report === undefined ? null : (
        <Failures
          report={report}
          explained={explained}
          lines={lines}
          onGo={(where) => (where.kind === "line" ? goTo(where.line) : player.seek(where.ms))}
        />
      )}
      <div class="call-deck">
        <Waveform player={player} peaks={peaks} lines={lines} durationMs={durationMs} onChoose={goTo}>
          <PlayerBar
            player={player}
            source={error === undefined ? recordingPath(sandbox, call) : undefined}
            isRunning={call.status !== "ended"}
            lines={lines}
            durationMs={durationMs}
            follows={follows}
            onFollow={setFollows}
          />
        </Waveform>
        {error === undefined ? null : <p class="quiet">No sound: {error.message}.</p>}
      </div>
      <Transcript
        call={call}
        events={events}
        lines={lines}
        player={player}
        follows={follows}
        speed={speed}
        explained={explained}
        openTools={open}
        onToggleTool={toggle}
        onSeek={({ id, startMs }) => {
          player.seek(startMs);
          setQuery({ line: id });
        }}
      />
    </>
  );
}

/** The file of a running call grows: what there was when it was loaded is played. */
function recordingPath(sandbox: string, { id }: CallDetails): string {
  return controlPath(sandbox, "vapi", `recordings/${encodeURIComponent(id)}`);
}

/** Time after the last seek at which the address names the moment. */
const ADDRESS_MS = 300;

/** A player that begins where the address says, and that tells it where it stands. */
function usePlayer(): Player {
  const named = Number(place.value.query.get("t") ?? 0) || 0;
  const written = useRef(named);
  const player = useMemo(() => new Player(named), []);
  useEffect(() => {
    // Back and forward lead to other moments of the same call.
    if (named === written.current) return;
    written.current = named;
    player.seek(named);
  }, [named]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const ms = Math.round(player.positionMs.value);
      clearTimeout(timer);
      if (player.isPlaying.value || ms === written.current) return;
      timer = setTimeout(() => {
        written.current = ms;
        setQuery({ t: ms === 0 ? undefined : String(ms) });
      }, ADDRESS_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return player;
}

/** The tools that the address names are open. */
function useOpenTools(): { open: ReadonlySet<string>; toggle(id: string): void } {
  const text = place.value.query.get("tool") ?? "";
  const open = useMemo(() => new Set(text.split(",").filter((id) => id !== "")), [text]);
  const toggle = (id: string) => {
    const next = open.has(id) ? [...open].filter((each) => each !== id) : [...open, id];
    setQuery({ tool: next.length === 0 ? undefined : next.join(",") });
  };
  return { open, toggle };
}

function Facts({ call, record, durationMs }: { call: CallDetails; record: CallRecord; durationMs: number }) {
  const { simulation, report } = record;
  const { speed, framing } = simulation?.metadata ?? {};
  const model = [call.assistant?.model?.provider, call.assistant?.model?.model].filter(Boolean).join(" ");
  return (
    <div class="call-facts">
      <FactList
        facts={[
          ["When", formatMoment(call.started_at ?? call.created_at)],
          ["Duration", durationMs > 0 ? formatDuration(durationMs) : undefined],
          ["Turns", String(call.turns)],
          [
            "Slowest response",
            call.slowest_response_ms === null ? undefined : formatDuration(call.slowest_response_ms),
          ],
          ["Not recognised", call.unrecognised > 0 ? String(call.unrecognised) : undefined],
          ["Placed at", speed === undefined || speed === 1 ? undefined : `${speed} times real time`],
          ["Ended", call.status === "ended" ? plainReason(call.ended_reason) : undefined],
        ]}
      />
      <details>
        <summary class="quiet">More</summary>
        <FactList
          facts={[
            ["How it ended for the caller", report?.reason],
            ["Assistant", call.assistant?.name ?? undefined],
            ["Model", model === "" ? undefined : model],
            ["Framing", framing],
            ["Call", call.id],
            ["Simulation", call.simulation_id ?? undefined],
          ]}
        />
      </details>
    </div>
  );
}

function FactList({ facts }: { facts: readonly (readonly [name: string, value: string | undefined])[] }) {
  return (
    <dl>
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

interface CopyScenarioProps extends CallViewProps {
  lines: readonly Line[];
}

/** Two texts: the file that the call was placed from, where it is known; the call as it happened. */
function CopyScenario({ sandbox, call, record, lines }: CopyScenarioProps) {
  const { report, simulation } = record;
  const original = simulation?.metadata.scenario_text;
  const write = async () => {
    const samples = report === undefined ? await readSamples(sandbox) : [];
    return scenarioOf({ call, lines, report, simulation, samples }).text;
  };
  return (
    <>
      {original === undefined ? null : <CopyButton text={original}>Copy its scenario file</CopyButton>}
      {call.status === "ended" ? <CopyButton text={write}>Copy the call as heard</CopyButton> : null}
    </>
  );
}

/** @returns none where the runtime does not tell its samples */
async function readSamples(sandbox: string): Promise<{ name: string; text: string }[]> {
  try {
    const { samples } = await read<{ samples: { name: string; text: string }[] }>(
      controlPath(sandbox, "vapi", "samples"),
    );
    return samples;
  } catch {
    return [];
  }
}
