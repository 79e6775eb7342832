/** What was said, heard and called, in the order of time; the line that plays is marked. */
import "./transcript.css";
import { useComputed, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { place } from "../place.ts";
import { formatDuration, formatPosition } from "../ui/format.ts";
import type { ExpectedMember, ExplainedFailure } from "./failures.ts";
import { LatencyBar } from "./latency.tsx";
import { longestOf, toolTimes } from "./latency-parts.ts";
import type { Player } from "./player.ts";
import { durationOf, errorOf, type Line, lineAt, type SpeechLine, type ToolLine } from "./timeline.ts";
import { ToolDetails } from "./tool.tsx";
import type { CallDetails, SimulationEvent } from "./types.ts";
import { compareWords, hasSameWords } from "./words.ts";

export interface TranscriptProps {
  call: CallDetails;
  events: readonly SimulationEvent[];
  lines: readonly Line[];
  player: Player;
  follows: boolean;
  /** How many times faster than real time the call was placed. */
  speed: number;
  /** Ids of the tools that are open. */
  openTools: ReadonlySet<string>;
  onToggleTool(id: string): void;
  onSeek(line: Line): void;
  /** Failed expectations; a tool shows its own. */
  explained: readonly ExplainedFailure[];
}

/** Id of a line's element. */
export function elementId(line: Line): string {
  return `line-${line.id}`;
}

export function Transcript(props: TranscriptProps) {
  const { lines, player, follows, speed } = props;
  const latest = useRef(lines);
  latest.current = lines;
  const playing = useComputed(() => {
    const chosen = latest.current.find(({ id }) => id === place.value.query.get("line"));
    // A tool makes no sound, so the moment alone would mark what is said around it.
    const isThere = chosen && Math.abs(chosen.startMs - player.positionMs.value) < 1;
    return (isThere ? chosen : lineAt(latest.current, player.positionMs.value))?.id;
  });
  const current = playing.value;
  useSignalEffect(() => {
    const id = playing.value;
    if (id === undefined || !follows || !player.isPlaying.value) return;
    document.getElementById(`line-${id}`)?.scrollIntoView({ block: "nearest" });
  });
  const tools = useMemo(() => toolTimes(lines), [lines]);
  const longestMs = longestOf(
    lines.flatMap((line) => (line.kind === "assistant" ? (line.message.latency ?? []) : [])),
    speed,
  );
  if (lines.length === 0) return <p class="empty">Nothing has been said yet.</p>;
  return (
    <ol class="call-transcript" aria-label="Transcript">
      {lines.map((line) =>
        line.kind === "tool" ? (
          <ToolEntry key={line.id} line={line} isCurrent={line.id === current} {...props} />
        ) : (
          <SpeechEntry
            key={line.id}
            line={line}
            isCurrent={line.id === current}
            longestMs={longestMs}
            toolMs={tools.get(line) ?? 0}
            speed={speed}
            onSeek={props.onSeek}
          />
        ),
      )}
    </ol>
  );
}

interface SpeechEntryProps {
  line: SpeechLine;
  isCurrent: boolean;
  longestMs: number;
  toolMs: number;
  speed: number;
  onSeek(line: Line): void;
}

function SpeechEntry({ line, isCurrent, longestMs, toolMs, speed, onSeek }: SpeechEntryProps) {
  const latency = line.kind === "assistant" ? line.message.latency : null;
  return (
    <li id={elementId(line)} class={`call-line ${line.kind}`} aria-current={isCurrent ? "true" : undefined}>
      <button type="button" class="call-moment" onClick={() => onSeek(line)} title="Play from here">
        {formatPosition(line.startMs)}
      </button>
      <span class="call-who">{line.kind}</span>
      <div class="call-what">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the time beside it is the button for keys */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the same */}
        <div class="call-words" onClick={() => seekUnlessSelecting(() => onSeek(line))}>
          {line.kind === "assistant" ? <AssistantWords line={line} /> : <CallerWords line={line} />}
        </div>
        {latency ? (
          <LatencyBar latency={latency} longestMs={longestMs} speed={speed} toolMs={toolMs} />
        ) : null}
        {line.kind === "assistant" && !latency && line.responseMs !== null ? (
          <p class="quiet call-fine">
            {formatDuration(line.responseMs)} until the answer, as the caller heard it
          </p>
        ) : null}
      </div>
    </li>
  );
}

/** Who selects text does not want to seek. */
function seekUnlessSelecting(seek: () => void): void {
  if (window.getSelection()?.isCollapsed !== false) seek();
}

function AssistantWords({ line }: { line: Extract<SpeechLine, { kind: "assistant" }> }) {
  return (
    <p>
      {line.message.text} {line.interrupted ? <span class="tag warn">interrupted by the caller</span> : null}
    </p>
  );
}

function CallerWords({ line }: { line: Extract<SpeechLine, { kind: "caller" }> }) {
  const { message, said, cutOff } = line;
  const heard = message?.role === "user" ? message.text : undefined;
  return (
    <>
      {heard === undefined ? (
        <p>
          <span class="tag bad">{message ? "not recognised" : "not heard"}</span>{" "}
          {message
            ? "The runtime heard speech and recognised no words. A recogniser of samples knows those alone; what to do about it is on the page Talk."
            : cutOff
              ? "The call ended before the runtime had understood it."
              : "The runtime noticed nothing of this."}
        </p>
      ) : (
        <Heard heard={heard} said={said?.text} />
      )}
      {said === undefined ? null : (
        <p class="quiet call-fine">
          {heard !== undefined && hasSameWords(heard, said.text) ? (
            "all words understood; sample"
          ) : (
            <>the sample says “{said.text}”</>
          )}
          {said.samples.map((sample) => (
            <code key={sample}> {sample}</code>
          ))}
          {cutOff ? " · cut off: the caller hung up within it" : null}
        </p>
      )}
    </>
  );
}

/** What was heard, with what differs from what was said. */
function Heard({ heard, said }: { heard: string; said: string | undefined }) {
  if (said === undefined || hasSameWords(heard, said)) return <p>{heard}</p>;
  let place = 0;
  return (
    <p>
      {compareWords(heard, said).map(({ kind, text }) => {
        const key = place++;
        if (kind === "both") return <span key={key}>{text} </span>;
        if (kind === "heard") {
          return (
            <span key={key}>
              <mark title="heard, but the sample does not say it">{text}</mark>{" "}
            </span>
          );
        }
        return (
          <span key={key}>
            <del title="the sample says it, but it was not heard">{text}</del>{" "}
          </span>
        );
      })}
    </p>
  );
}

/** The failed expectations of a tool's arguments and result. */
function failuresOf(line: ToolLine, explained: readonly ExplainedFailure[]): ExpectedMember[] {
  return explained.flatMap(({ place }) =>
    place?.kind === "line" && place.line.id === line.id ? (place.member ?? []) : [],
  );
}

function ToolEntry({
  line,
  isCurrent,
  call,
  events,
  lines,
  openTools,
  onToggleTool,
  onSeek,
  explained,
}: TranscriptProps & { line: ToolLine; isCurrent: boolean }) {
  const isOpen = openTools.has(line.id);
  const panel = `tool-${line.id}`;
  const failed = errorOf(line) !== undefined;
  const unexpected = failuresOf(line, explained);
  return (
    <li id={elementId(line)} class="call-line tool" aria-current={isCurrent ? "true" : undefined}>
      <button type="button" class="call-moment" onClick={() => onSeek(line)} title="Play from here">
        {formatPosition(line.startMs)}
      </button>
      <span class="call-who">tool</span>
      <div class="call-what">
        <button
          type="button"
          class="call-tool-head"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={() => onToggleTool(line.id)}
        >
          <span class="call-twist" aria-hidden="true" />
          <strong>{line.call.name}</strong>
          <code class="cut">{JSON.stringify(line.call.arguments ?? {})}</code>
          {line.result === undefined ? (
            <span class="tag accent">{call.status === "ended" ? "no answer" : "running"}</span>
          ) : (
            <span class={failed ? "tag bad" : unexpected.length > 0 ? "tag" : "tag good"}>
              {failed ? "failed" : "answered"} after{" "}
              {formatDuration(durationOf(line) ?? line.endMs - line.startMs)}
            </span>
          )}
          {unexpected.length > 0 ? <span class="tag bad">not as expected</span> : null}
        </button>
        <div id={panel}>
          {isOpen ? (
            <ToolDetails line={line} call={call} events={events} lines={lines} unexpected={unexpected} />
          ) : null}
        </div>
      </div>
    </li>
  );
}
