/** The course of a call: what the runtime recorded and what the caller reported, as lines in the order of time. */
import type { CallMessage, CallReport, ReportedTurn } from "./types.ts";

/** What the caller said, if it is known. */
interface Said {
  /** Names of samples. */
  samples: readonly string[];
  text: string;
}

/** Drift of the two clocks between one turn of the assistant and the next. */
const MAX_DRIFT_MS = 600;
/** The runtime's ear opens late and closes early by about this much. */
const EAR_MS = 300;

interface LineTimes {
  /** Unique in the call. */
  id: string;
  startMs: number;
  endMs: number;
}

/** A tool call, and its answer once it is there. */
export interface ToolLine extends LineTimes {
  kind: "tool";
  call: CallMessage;
  result: CallMessage | undefined;
  /** Its place among the tool calls. */
  index: number;
}

/** Something that one side said. */
export type SpeechLine = LineTimes &
  (
    | { kind: "assistant"; message: CallMessage; interrupted: boolean; responseMs: number | null }
    /** `message` is absent when the runtime noticed nothing of what was said. */
    | { kind: "caller"; message: CallMessage | undefined; said: Said | undefined; cutOff: boolean }
  );

export type Line = SpeechLine | ToolLine;

/**
 * @param report the caller's own; absent for callers that report nothing, and while the call runs
 * @param speed how many times faster than real time the call was placed
 */
export function timelineOf(
  messages: readonly CallMessage[],
  report: CallReport | undefined,
  speed = 1,
): Line[] {
  const turns = inMediaTime(report?.turns ?? [], messages);
  const lines: Line[] = [
    ...callerLines(messages, turns),
    ...assistantLines(messages, turns),
    ...toolLines(messages, speed),
  ];
  return lines.sort((a, b) => a.startMs - b.startMs || rank(a) - rank(b));
}

const RANKS = { caller: 0, tool: 1, assistant: 2 } as const;
const rank = ({ kind }: Line) => RANKS[kind];

/**
 * The caller's turns by the runtime's clock. Both clocks count the same audio, but start at different times and drift
 * apart on a busy machine, so the assistant's turns, which are on both, tie them together again and again.
 */
function inMediaTime(turns: readonly ReportedTurn[], messages: readonly CallMessage[]): ReportedTurn[] {
  const spoken = messages.flatMap(({ role, start_ms }) =>
    role === "assistant" && start_ms !== null ? start_ms : [],
  );
  const first = turns.find(({ speaker }) => speaker === "assistant");
  let offsetMs = (first?.start_ms ?? 0) - (spoken[0] ?? first?.start_ms ?? 0);
  return turns.map((turn) => {
    if (turn.speaker === "assistant") {
      const expectedMs = turn.start_ms - offsetMs;
      const nearest = spoken.find((startMs) => Math.abs(startMs - expectedMs) < MAX_DRIFT_MS);
      if (nearest !== undefined) offsetMs = turn.start_ms - nearest;
    }
    return { ...turn, start_ms: turn.start_ms - offsetMs, end_ms: turn.end_ms - offsetMs };
  });
}

function callerLines(messages: readonly CallMessage[], turns: readonly ReportedTurn[]): Line[] {
  const heard = messages.filter(({ role }) => role === "user" || role === "unrecognised");
  const said = turns.filter(({ speaker }) => speaker === "caller");
  const owners = said.map((turn) => ownerOf(turn, heard));
  const lines: Line[] = heard.map((message) => {
    const own = said.filter((_, index) => owners[index] === message);
    return {
      id: `m${message.position}`,
      kind: "caller",
      message,
      said: own.length === 0 ? undefined : joinTurns(own),
      cutOff: own.some(({ cut_off }) => cut_off === true),
      ...timesOf(message),
    };
  });
  // What the caller says reaches the runtime later than what it hears tells: as late as what was heard before.
  let delayMs = 0;
  const unheard = said.flatMap((turn, index): Line[] => {
    const owner = owners[index];
    if (owner !== undefined) {
      delayMs = timesOf(owner).startMs - turn.start_ms;
      return [];
    }
    return [
      {
        id: `s${index}`,
        kind: "caller",
        message: undefined,
        said: joinTurns([turn]),
        cutOff: turn.cut_off === true,
        startMs: Math.max(0, turn.start_ms + delayMs),
        endMs: Math.max(0, turn.end_ms + delayMs),
      },
    ];
  });
  return [...lines, ...unheard];
}

function joinTurns(turns: readonly ReportedTurn[]): Said {
  return {
    samples: turns.flatMap(({ sample }) => sample ?? []),
    text: turns.flatMap(({ text }) => text ?? []).join(" "),
  };
}

/** The utterance of the runtime that shares the most time with a turn of the caller. */
function ownerOf(turn: ReportedTurn, heard: readonly CallMessage[]): CallMessage | undefined {
  let best = { message: undefined as CallMessage | undefined, sharedMs: -EAR_MS };
  for (const message of heard) {
    const { startMs, endMs } = timesOf(message);
    const sharedMs = Math.min(turn.end_ms, endMs) - Math.max(turn.start_ms, startMs);
    if (sharedMs > best.sharedMs) best = { message, sharedMs };
  }
  return best.message;
}

function assistantLines(messages: readonly CallMessage[], turns: readonly ReportedTurn[]): Line[] {
  const reported = turns.filter(({ speaker }) => speaker === "assistant");
  return messages
    .filter(({ role }) => role === "assistant")
    .map((message) => {
      const times = timesOf(message);
      const turn = reported.find(({ start_ms, end_ms }) => start_ms < times.endMs && end_ms > times.startMs);
      return {
        id: `m${message.position}`,
        kind: "assistant",
        message,
        interrupted: message.interrupted ?? turn?.interrupted ?? false,
        responseMs: turn?.response_ms ?? message.latency?.turn_ms ?? null,
        ...times,
      };
    });
}

function toolLines(messages: readonly CallMessage[], speed: number): Line[] {
  return messages
    .filter(({ role }) => role === "tool_call")
    .map((call, index) => {
      const result = messages.find(
        ({ role, tool_call_id }) => role === "tool_result" && tool_call_id === call.tool_call_id,
      );
      const startMs = call.start_ms ?? 0;
      const line: ToolLine = {
        id: `m${call.position}`,
        kind: "tool",
        call,
        result,
        index,
        startMs,
        endMs: Math.max(startMs, result?.end_ms ?? startMs),
      };
      return { ...line, endMs: Math.max(line.endMs, startMs + (durationOf(line) ?? 0) * speed) };
    });
}

function timesOf({ start_ms, end_ms }: CallMessage): { startMs: number; endMs: number } {
  const startMs = start_ms ?? end_ms ?? 0;
  return { startMs, endMs: Math.max(startMs, end_ms ?? startMs) };
}

/** The line that plays at a moment: the last one said that has begun; `undefined` before the first. */
export function lineAt(lines: readonly Line[], ms: number): Line | undefined {
  let found: Line | undefined;
  for (const line of lines) {
    if (line.kind === "tool") continue;
    if (line.startMs > ms) break;
    // Of two that overlap, the one that still goes on.
    if (found === undefined || line.endMs > ms || found.endMs <= ms) found = line;
  }
  return found;
}

/** A tool of the agent says that it failed by a member `error`. @returns what it says; `undefined`: it did not fail */
export function errorOf({ result }: ToolLine): string | undefined {
  const value = result && readJson(result.text);
  if (typeof value !== "object" || value === null || !("error" in value)) return undefined;
  return typeof value.error === "string" ? value.error : JSON.stringify(value.error);
}

/** How long a tool took; `undefined` while it runs. A clock that stands still tells less than its webhook. */
export function durationOf({ call, result }: ToolLine): number | undefined {
  if (!call.recorded_at || !result?.recorded_at) return undefined;
  const attempts = (call.webhook ?? result.webhook)?.attempts ?? [];
  const askedMs = attempts.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0);
  return Math.max(Date.parse(result.recorded_at) - Date.parse(call.recorded_at), askedMs);
}

/** The value of a JSON text; what is none stays text. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isTool(line: Line): line is ToolLine {
  return line.kind === "tool";
}
