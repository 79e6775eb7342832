/** Writes a scenario that places a call again: what the caller did, what the brain answered, what came of it. */
import { isTool, type Line, type ToolLine } from "./timeline.ts";
import type { CallDetails, CallReport, ReportedTurn, Simulation } from "./types.ts";
import { comparable } from "./words.ts";
import { hasAnchors, Remarked, sectionsOf, writeMembers } from "./yaml.ts";

export interface ScenarioSource {
  call: CallDetails;
  lines: readonly Line[];
  report: CallReport | undefined;
  simulation: Simulation | undefined;
  /** The samples there are; to find the one that a caller said who reports nothing. */
  samples: readonly { name: string; text: string }[];
}

/** Silence of the assistant after which it is the caller's turn, and how long the caller hesitates then by itself. */
const TURN_SILENCE_MS = 1_500;
const HESITATION_MS = 200;
/** Differences that are not worth a line. */
const SLACK_MS = 500;
/** Bounds of a rule. */
const MAX_HEARD = 500;
const MAX_SAY = 2_000;

/** The text of the file, and the name it must have. */
export function scenarioOf(source: ScenarioSource): { file: string; text: string } {
  const { call, simulation } = source;
  const original = simulation?.scenario ?? undefined;
  const name = `${slugOf(original ?? `call-${call.id.slice(0, 8)}`)}-again`;
  const file = `${name}.yaml`;
  const from = originalSections(simulation?.metadata.scenario_text);
  const description = `Places call ${call.id} again${original ? `, of the scenario ${original}` : ""}.`;
  const parts = [
    [
      "# The call as heard: it expects what happened, not what the call's own scenario expected in vain.",
      `# Save it as samples/scenarios/${file}.`,
      ...writeMembers({ name, description }),
    ],
    writeMembers({ caller: callerOf(source) }),
    ...["given", "faults"].flatMap((section) => (from.has(section) ? [[from.get(section) ?? ""]] : [])),
    [from.get("brain") ?? writeMembers({ brain: brainOf(source) }).join("\n")],
    writeMembers({ expect: expectationsOf(source) }),
  ];
  return { file, text: `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n` };
}

function originalSections(text: string | undefined): ReadonlyMap<string, string> {
  return text === undefined || hasAnchors(text) ? new Map() : sectionsOf(text);
}

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return slug === "" ? "call" : slug;
}

function callerOf(source: ScenarioSource): Record<string, unknown> {
  const turns = turnsOf(source);
  const startsItself = turns[0]?.speaker === "caller";
  return {
    protocol: source.simulation?.metadata.framing === "json" ? "json" : undefined,
    wait_for_callee_first: startsItself ? false : undefined,
    turns: stepsOf(turns, endedBy(source)),
  };
}

/** A turn with the sample that says it again. */
type Turn = Pick<ReportedTurn, "speaker" | "start_ms" | "end_ms" | "interrupted" | "cut_off"> & {
  say?: unknown;
};

/** The caller's own report, or else what the runtime heard. */
function turnsOf({ report, lines, samples }: ScenarioSource): Turn[] {
  if (report !== undefined) {
    return report.turns.map((turn) =>
      turn.speaker === "caller" ? { ...turn, say: turn.sample ?? sampleFor(turn.text ?? "", samples) } : turn,
    );
  }
  return lines.flatMap((line): Turn[] => {
    const times = { start_ms: line.startMs, end_ms: line.endMs };
    if (line.kind === "assistant") return [{ speaker: "assistant", interrupted: line.interrupted, ...times }];
    if (line.kind === "tool") return [];
    return [{ speaker: "caller", say: sampleFor(line.message?.text ?? "", samples), ...times }];
  });
}

function sampleFor(text: string, samples: ScenarioSource["samples"]): unknown {
  if (text === "") {
    return new Remarked("unrecognised", "nothing was recognised: name the sample that was said");
  }
  const known = samples.find((sample) => comparable(sample.text) === comparable(text));
  if (known !== undefined) return known.name;
  const remark = `no sample says this; record one with the text: ${text}`;
  return new Remarked(slugOf(comparable(text).split(" ").slice(0, 4).join(" ")), remark);
}

function stepsOf(turns: readonly Turn[], by: "caller" | "callee"): Record<string, unknown>[] {
  const steps: Record<string, unknown>[] = [];
  let previous: Turn | undefined;
  let between: Turn[] = [];
  for (const turn of turns) {
    if (turn.speaker === "assistant") {
      between.push(turn);
      continue;
    }
    steps.push(...stepsBefore(turn, previous, between), sayStep(turn, between));
    previous = turn;
    between = [];
  }
  if (by === "callee") steps.push({ stay_silent: "until_hang_up" });
  else if (previous?.cut_off !== true && between.length === 0) steps.push({ hang_up: "at_once" });
  return steps;
}

/** The silence before an utterance that no single reply ended. */
function stepsBefore(
  turn: Turn,
  previous: Turn | undefined,
  between: readonly Turn[],
): Record<string, unknown>[] {
  if (previous === undefined || between.length === 1 || isInterruption(between)) return [];
  return [{ stay_silent: Math.max(0, Math.round(turn.start_ms - previous.end_ms - HESITATION_MS)) }];
}

function isInterruption(between: readonly Turn[]): boolean {
  return between.at(-1)?.interrupted === true;
}

function sayStep(turn: Turn, between: readonly Turn[]): Record<string, unknown> {
  const reply = between.at(-1);
  const waitedMs = reply === undefined ? 0 : turn.start_ms - reply.end_ms - TURN_SILENCE_MS;
  const hesitates = between.length === 1 && waitedMs > HESITATION_MS + SLACK_MS;
  return {
    say: turn.say,
    after_ms: hesitates && !isInterruption(between) ? Math.round(waitedMs) : undefined,
    interrupt_after_ms:
      reply !== undefined && isInterruption(between) ? Math.round(turn.start_ms - reply.start_ms) : undefined,
    hang_up_after_ms: turn.cut_off === true ? Math.round(turn.end_ms - turn.start_ms) : undefined,
  };
}

function endedBy({ report, call }: ScenarioSource): "caller" | "callee" {
  if (report?.ended_by === "caller" || report?.ended_by === "callee") return report.ended_by;
  return call.ended_reason?.startsWith("customer") ? "caller" : "callee";
}

/** Rules from what happened: what was heard, and what the assistant did until the caller spoke again. */
function brainOf(source: ScenarioSource): Record<string, unknown>[] {
  const rules: { heard: string; once: true; call?: unknown[]; say?: string; end_call?: true }[] = [];
  let isOpen = false;
  for (const line of source.lines) {
    if (line.kind === "caller") {
      const heard = patternOf(line.message?.text ?? "");
      isOpen = heard !== "";
      if (isOpen) rules.push({ heard, once: true });
      continue;
    }
    const rule = isOpen ? rules.at(-1) : undefined;
    if (rule === undefined) continue;
    if (isTool(line)) {
      rule.call = [
        ...(rule.call ?? []),
        { tool: line.call.name ?? "", arguments: line.call.arguments ?? {} },
      ];
    } else {
      const said = [rule.say ?? "", line.message.text.replace(/[{}]/g, "")].join(" ").trim();
      if (said !== "") rule.say = said.slice(0, MAX_SAY);
    }
  }
  const last = rules.at(-1);
  if (last && endedBy(source) === "callee" && source.call.ended_reason?.startsWith("assistant"))
    last.end_call = true;
  const useful = rules.filter(({ call, say, end_call }) => call ?? say ?? end_call);
  return [...useful, { heard: "*", say: "Sorry, I did not catch that." }];
}

/** A rule's pattern for exactly these words: a star would stand for others, and what is no word cannot be heard. */
function patternOf(text: string): string {
  const chunks = text
    .replaceAll("*", " ")
    .split(/\s+/)
    .filter((chunk) => /[\p{L}\p{N}]/u.test(chunk));
  let pattern = "";
  for (const chunk of chunks) {
    if (pattern.length + chunk.length >= MAX_HEARD - 2) return `${pattern} *`;
    pattern = pattern === "" ? chunk : `${pattern} ${chunk}`;
  }
  return pattern;
}

function expectationsOf(source: ScenarioSource): Record<string, unknown> {
  const { report, call, lines } = source;
  const interruptions = turnsOf(source).filter(({ interrupted }) => interrupted === true).length;
  return {
    outcome: report?.outcome && report.outcome !== "completed" ? report.outcome : undefined,
    ended_by: endedBy(source),
    interruptions: interruptions > 0 ? interruptions : undefined,
    heard: call.messages.filter(({ role }) => role === "user").map(({ text }) => text),
    tool_calls: lines.filter(isTool).map(expectedCall),
  };
}

/** Of a result only what repeats the arguments will be the same next time. */
function expectedCall({ call, result }: ToolLine): Record<string, unknown> {
  const args = call.arguments ?? {};
  const found = result === undefined ? undefined : membersOf(result.text);
  const same = Object.entries(found ?? {}).filter(
    ([name, value]) => isScalar(value) && name in args && args[name] === value,
  );
  return {
    tool: call.name ?? "",
    arguments: withoutPlaces(args),
    result:
      found !== undefined && "error" in found
        ? { error: "*" }
        : same.length > 0
          ? withoutPlaces(Object.fromEntries(same))
          : undefined,
  };
}

/** In an expectation `{{…}}` would be filled in; a star stands for any text. */
function withoutPlaces(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    typeof each === "string" ? each.replace(/\{\{[^{}]*\}\}/g, "*") : each,
  ]);
  return Object.fromEntries(entries);
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function membersOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
