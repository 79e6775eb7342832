/** What was said, heard and called, in the order of time; the line that plays is marked. */
import { useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatDuration, formatPosition } from "../ui/format.ts";
import { LatencyBar, longestOf } from "./latency.tsx";
import type { Player } from "./player.ts";
import { type Line, lineAt, type SpeechLine, type ToolLine } from "./timeline.ts";
import { ToolDetails } from "./tool.tsx";
import { durationOf } from "./tool-data.ts";
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
  onSeek(ms: number): void;
}

/** Id of a line's element. */
export function elementId(line: Line): string {
  return `line-${line.id}`;
}

export function Transcript(props: TranscriptProps) {
  const { lines, player, follows, speed } = props;
  const latest = useRef(lines);
  latest.current = lines;
  const playing = useComputed(() => lineAt(latest.current, player.positionMs.value)?.id);
  const current = playing.value;
  useSignalEffect(() => {
    const id = playing.value;
    if (id === undefined || !follows || !player.isPlaying.value) return;
    document.getElementById(`line-${id}`)?.scrollIntoView({ block: "nearest" });
  });
  const longestMs = longestOf(
    lines.flatMap((line) => (line.kind === "assistant" ? (line.message.latency ?? []) : [])),
    speed,
  );
  if (lines.length === 0) return <p class="empty">Nothing has been said yet.</p>;
  return (
    <ol class="call-transcript" aria-label="Transcript">
      {lines.map((line) =>
        line.kind === "tool" ? (
          <ToolEntry key={line.id} line={line} {...props} />
        ) : (
          <SpeechEntry
            key={line.id}
            line={line}
            isCurrent={line.id === current}
            longestMs={longestMs}
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
  speed: number;
  onSeek(ms: number): void;
}

function SpeechEntry({ line, isCurrent, longestMs, speed, onSeek }: SpeechEntryProps) {
  const latency = line.kind === "assistant" ? line.message.latency : null;
  return (
    <li id={elementId(line)} class={`call-line ${line.kind}`} aria-current={isCurrent ? "true" : undefined}>
      <button type="button" class="call-moment" onClick={() => onSeek(line.startMs)} title="Play from here">
        {formatPosition(line.startMs)}
      </button>
      <span class="call-who">{line.kind}</span>
      <div class="call-what">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the time beside it is the button for keys */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the same */}
        <div class="call-words" onClick={() => seekUnlessSelecting(() => onSeek(line.startMs))}>
          {line.kind === "assistant" ? <AssistantWords line={line} /> : <CallerWords line={line} />}
        </div>
        {latency ? <LatencyBar latency={latency} longestMs={longestMs} speed={speed} /> : null}
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
            "heard as the sample says"
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

function ToolEntry({
  line,
  call,
  events,
  lines,
  openTools,
  onToggleTool,
  onSeek,
}: TranscriptProps & { line: ToolLine }) {
  const isOpen = openTools.has(line.id);
  const panel = `tool-${line.id}`;
  const failed = hasFailed(line);
  return (
    <li id={elementId(line)} class="call-line tool">
      <button type="button" class="call-moment" onClick={() => onSeek(line.startMs)} title="Play from here">
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
            <span class={failed ? "tag bad" : "tag good"}>
              {failed ? "failed" : "answered"} after{" "}
              {formatDuration(durationOf(line) ?? line.endMs - line.startMs)}
            </span>
          )}
        </button>
        <div id={panel}>
          {isOpen ? <ToolDetails line={line} call={call} events={events} lines={lines} /> : null}
        </div>
      </div>
    </li>
  );
}

/** A tool of the agent says that it failed by a member `error`. */
function hasFailed({ result }: ToolLine): boolean {
  if (result === undefined) return false;
  try {
    const value: unknown = JSON.parse(result.text);
    return typeof value === "object" && value !== null && "error" in value;
  } catch {
    return false;
  }
}
