/** Failed expectations in plain words, each with the place that it is about, where that can be known. */
import { formatDuration, formatValue } from "../ui/format.ts";
import { durationOf, errorOf, isTool, type Line, readJson, type ToolLine } from "./timeline.ts";
import { comparable } from "./words.ts";

/** Where a failure can be seen. */
export type FailurePlace =
  | { kind: "line"; line: Line; member?: ExpectedMember }
  | { kind: "moment"; ms: number }
  | { kind: "rows"; twin: string; table: string; where: Filter }
  | { kind: "requests"; twin: string; where: Filter };

/** Columns or members with the values that they should have. */
export type Filter = Readonly<Record<string, string>>;

/** A member of a tool's arguments or result that is not what was expected. */
export interface ExpectedMember {
  part: "arguments" | "result";
  /** `.id`, `.items[0].name`; empty: the whole. */
  path: string;
  /** As JSON. */
  wanted: string;
}

export interface ExplainedFailure {
  /** As the caller reported it. */
  text: string;
  words: string;
  place: FailurePlace | undefined;
  /** The tool of which a value is missing. */
  missingFrom?: string | undefined;
}

interface CallEnd {
  lines: readonly Line[];
  /** Length of the call. */
  durationMs: number;
}

type Explain = (match: RegExpExecArray, end: CallEnd) => Omit<ExplainedFailure, "text">;

const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  completed: "one side hangs up",
  callee_no_answer: "nobody answers",
  stalled: "the assistant's turn never ends",
  protocol_violation: "the agent breaks the framing",
  timeout: "the call reaches its longest duration",
};

const RULES: readonly [RegExp, Explain][] = [
  [
    /^tool_calls\[(\d+)\] (\S+) (arguments|result)(\S*): expected ([\s\S]*), found ([\s\S]*)$/,
    ([, index, tool = "", part, path = "", wanted = "", found = ""], { lines }) => {
      const line = lines.filter(isTool)[Number(index)];
      const member: ExpectedMember = { part: part === "result" ? "result" : "arguments", path, wanted };
      return {
        words: describeMember(tool, member, found, line),
        place: line && { kind: "line", line, member },
      };
    },
  ],
  [
    /^tool_calls: expected (.*), found (.*?)$/,
    ([, wanted = "", found = ""], { lines }) => ({
      words: `The tools should have been ${wanted}, and were ${found}.`,
      place: lineOf(firstOther(lines, wanted.split(", "))),
    }),
  ],
  [
    /^response_ms: expected at most (\d+), found (\d+) at (\d+) ms/,
    ([, limit, found, at], { lines }) => {
      const spoken = lines.find((line) => line.kind === "assistant" && line.responseMs === Number(found));
      return {
        words: `The caller waited ${found} ms for this answer; at most ${limit} ms were expected.`,
        place: lineOf(spoken) ?? { kind: "moment", ms: Number(at) },
      };
    },
  ],
  [
    /^heard: expected ([\s\S]*), found ([\s\S]*)$/,
    ([, wanted = "", found = ""], { lines }) => explainHeard(quotesIn(wanted), quotesIn(found), lines),
  ],
  [
    /^said: expected "([\s\S]*)", found (nothing|"[\s\S]*")$/,
    ([, wanted = "", found = ""], { lines }) => explainSaid(wanted, quotesIn(found), lines),
  ],
  [
    /^said: "([\s\S]*)" cannot be checked: no tool result has (.*)$/,
    ([, wanted, missing = ""], { lines }) => ({
      words: `Whether “${wanted}” was said cannot be checked: no tool answered ${missing}.`,
      ...missingValue(missing, lines),
    }),
  ],
  [
    /^(database|requests): (\S+) ([\s\S]*): no tool result has (.*)$/,
    ([, section, name, where = "", missing = ""], { lines }) => ({
      words: `Whether ${section === "database" ? `the table ${name} has the rows` : `${name} got the requests`} with ${describeFilter(where)} cannot be checked: no tool answered ${missing}.`,
      ...missingValue(missing, lines),
    }),
  ],
  [
    /^not_said: "([\s\S]*?)" was said: "([\s\S]*)"$/,
    ([, unwanted, said], { lines }) => ({
      words: `The assistant should not have said “${unwanted}”, and did.`,
      place: lineOf(speakerOf(lines, said)),
    }),
  ],
  [
    /^outcome: expected (\w+), found (\w+) \(([\s\S]*)\)$/,
    ([, wanted = "", found = "", reason], end) => ({
      words: `The call should have ended as “${OUTCOME_WORDS[wanted] ?? wanted}”, and ended as “${OUTCOME_WORDS[found] ?? found}”: ${reason}.`,
      place: endOf(end),
    }),
  ],
  [
    /^ended_by: expected (\w+), found (\w+) \(([\s\S]*)\)$/,
    ([, wanted, found, reason], end) => ({
      words: `The ${sideOf(wanted)} should have ended the call; the ${sideOf(found)} did: ${reason}.`,
      place: endOf(end),
    }),
  ],
  [
    /^ended_reason: expected (\S+), found ([\s\S]*)$/,
    ([, wanted, found], end) => ({
      words: `The runtime should have ended the call for the reason ${wanted}; its reason was ${found}.`,
      place: endOf(end),
    }),
  ],
  [
    /^close_code: expected (\d+), found ([\s\S]*)$/,
    ([, wanted, found], end) => ({
      words: `The agent should have closed the line with code ${wanted}, and closed it with ${found}.`,
      place: endOf(end),
    }),
  ],
  [
    /^the call ended before the caller could ([\s\S]*)$/,
    ([, undone], end) => ({ words: `The call ended before the caller could ${undone}.`, place: endOf(end) }),
  ],
  [
    /^interruptions: expected (\d+), found (\d+)$/,
    ([, wanted, found], { lines }) => ({
      words: `The caller should have interrupted ${times(wanted)}, and interrupted ${times(found)}.`,
      place: lineOf(lines.find((line) => line.kind === "assistant" && line.interrupted)),
    }),
  ],
  [
    /^the assistant's turn was over before "([\s\S]*)" could interrupt it$/,
    ([, text]) => ({
      words: `The caller should have interrupted with “${text}”; the assistant had finished before.`,
      place: undefined,
    }),
  ],
  [
    /^the callee's audio ended in the middle of a sample: /,
    (_, end) => ({
      words: "The agent's audio ended in the middle of a sample: it sent an odd number of bytes.",
      place: endOf(end),
    }),
  ],
  [
    /^database: (\S+) ([\s\S]*): expected (\d+ rows?), found (\d+ rows?)$/,
    ([, table = "", where = "", wanted, found]) => ({
      words: `The table ${table} should have ${wanted} with ${describeFilter(where)}, and has ${found}.`,
      place: { kind: "rows", twin: "postgres", table, where: filterOf(where) },
    }),
  ],
  [
    /^requests: (\S+) ([\s\S]*): expected (\d+), found (\d+) of (\d+) requests$/,
    ([, twin = "", where = "", wanted, found, total]) => ({
      words: `${twin} should have been asked ${times(wanted)} with ${describeFilter(where)}, and was ${times(found)}; it had ${total} requests.`,
      // A filter that finds nothing would hide what there is instead.
      place: { kind: "requests", twin, where: found === "0" ? {} : filterOf(where) },
    }),
  ],
  [
    /^every tool call should be reported to the engine: expected ([\s\S]*), found ([\s\S]*)$/,
    ([, made, told], { lines }) => ({
      words: `The agent should report every tool call to the engine: it made ${made}, and reported ${told}.`,
      place: lineOf(lines.find(isTool)),
    }),
  ],
];

export function explainFailure(text: string, end: CallEnd): ExplainedFailure {
  for (const [pattern, explain] of RULES) {
    const match = pattern.exec(text);
    if (match) return { text, ...explain(match, end) };
  }
  return { text, words: text, place: undefined };
}

/** A tool that failed, or an expectation that did; with what may follow from it. */
export interface FailureGroup extends ExplainedFailure {
  consequences: readonly ExplainedFailure[];
}

/** Tools that failed come first, each with the failed expectations that may follow from it; then the others. */
export function groupFailures(failures: readonly ExplainedFailure[], lines: readonly Line[]): FailureGroup[] {
  const left = new Set(failures);
  const causes = lines.filter(isTool).flatMap((line): FailureGroup[] => {
    const error = errorOf(line);
    const consequences = error === undefined ? [] : [...left].filter((each) => mayFollow(each, line, lines));
    // A failure that the scenario expects explains nothing.
    if (error === undefined || consequences.length === 0) return [];
    for (const each of consequences) left.delete(each);
    const words = `${line.call.name} failed${durationWords(line)}: ${withStop(error)}`;
    return [{ text: error, words, place: lineOf(line), consequences }];
  });
  return [...causes, ...[...left].map((each) => ({ ...each, consequences: [] }))];
}

function mayFollow(failure: ExplainedFailure, failed: ToolLine, lines: readonly Line[]): boolean {
  const { text, place, missingFrom } = failure;
  if (missingFrom !== undefined) return missingFrom === failed.call.name;
  if (/^(database|requests):/.test(text)) return isShort(text);
  if (/^(heard|ended_by|ended_reason|outcome|the call ended before)/.test(text))
    return isAfter(place, failed);
  if (text.startsWith("said:") && place === undefined) return true;
  if (text.startsWith("tool_calls:")) return lines.filter(isTool).at(-1) === failed;
  if (place?.kind !== "line") return false;
  if (place.line.kind === "tool") return place.line === failed && place.member?.part === "result";
  return isAfter(place, failed);
}

/** Whether there was less than expected. */
function isShort(text: string): boolean {
  const [, wanted, found] = /: expected (\d+)\D*, found (\d+)[^,]*$/.exec(text) ?? [];
  return wanted !== undefined && Number(found) < Number(wanted);
}

function isAfter(place: FailurePlace | undefined, { endMs }: ToolLine): boolean {
  if (place?.kind === "moment") return place.ms >= endMs;
  return place?.kind === "line" && place.line.startMs >= endMs;
}

function durationWords(line: ToolLine): string {
  const ms = durationOf(line);
  return ms === undefined ? "" : ` after ${formatDuration(ms)}`;
}

function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function describeMember(
  tool: string,
  { part, path, wanted }: ExpectedMember,
  found: string,
  line: ToolLine | undefined,
): string {
  const member = path.replace(/^\./, "");
  const name = member === "" ? "" : `${member} `;
  if (part === "arguments") {
    const was = found === "nothing" ? "was called without it" : `was called with ${found}`;
    return `${tool} should have been called with ${name}${wanted}, and ${was}.`;
  }
  const error = line && errorOf(line);
  if (error !== undefined && !/^\.error\b/.test(path)) {
    return `${tool} should have answered ${name}${wanted}, and failed: ${withStop(error)}`;
  }
  const without = member === "" ? "and did not answer" : `and its answer has no ${member}`;
  return `${tool} should have answered ${name}${wanted}, ${found === "nothing" ? without : `and answered ${found}`}.`;
}

/** @param missing `incident_status.status, who_is_on_call.name` */
function missingValue(missing: string, lines: readonly Line[]) {
  const missingFrom = missing.split(".")[0];
  const tools = lines.filter(isTool);
  const place = lineOf(tools.findLast(({ call }) => call.name === missingFrom) ?? tools.at(-1));
  return { place, missingFrom };
}

/** Members of a JSON object that are single values. */
function filterOf(where: string): Filter {
  const members = Object.entries(readObject(where) ?? {});
  return Object.fromEntries(
    members.flatMap(([name, value]) =>
      typeof value === "object" && value !== null ? [] : [[name, String(value)]],
    ),
  );
}

/** `id = INC-7, severity = 2`; what is no JSON object stays as it is. */
function describeFilter(where: string): string {
  const members = Object.entries(readObject(where) ?? {});
  const texts = members.map(([name, value]) => `${name} = ${formatValue(value)}`);
  return texts.length === 0 ? where : texts.join(", ");
}

function readObject(text: string): Record<string, unknown> | undefined {
  const value = readJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function sideOf(side = ""): string {
  return side === "callee" ? "assistant" : side;
}

function times(count = "0"): string {
  return count === "1" ? "once" : `${count} times`;
}

function lineOf(line: Line | undefined): FailurePlace | undefined {
  return line && { kind: "line", line };
}

function endOf({ durationMs }: CallEnd): FailurePlace {
  return { kind: "moment", ms: Math.max(0, durationMs - 1_000) };
}

/** Texts in quotes, as failures list them. */
function quotesIn(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"/g)].map(([, quoted = ""]) => quoted);
}

function firstOther(lines: readonly Line[], wanted: readonly string[]): Line | undefined {
  const tools = lines.filter(isTool);
  return tools.find(({ call }, index) => call.name !== wanted[index]) ?? tools.at(-1);
}

function explainHeard(
  wanted: readonly string[],
  found: readonly string[],
  lines: readonly Line[],
): Omit<ExplainedFailure, "text"> {
  const spoken = lines.filter((line) => line.kind === "caller");
  const heard = spoken.filter(({ message }) => message?.role === "user");
  const at = wanted.findIndex((part, index) => !containsWords(found[index] ?? "", part));
  const [part, text] = [wanted[at], found[at]];
  if (part !== undefined && text !== undefined) {
    return {
      words: `The caller should have been understood as “${part}”, and was understood as “${text}”.`,
      place: lineOf(heard[at]),
    };
  }
  const unheard = spoken.find(({ message }) => message?.role !== "user");
  if (part !== undefined) {
    return {
      words: `The caller should have been understood as “${part}”, and was not: it was understood ${times(String(found.length))} instead of ${times(String(wanted.length))}.`,
      place: lineOf(unheard ?? heard.at(-1)),
    };
  }
  return {
    words: `The caller should have been understood ${times(String(wanted.length))}, and was understood ${times(String(found.length))}: the first too many is “${found[wanted.length] ?? ""}”.`,
    place: lineOf(heard[wanted.length]),
  };
}

function explainSaid(
  wanted: string,
  found: readonly string[],
  lines: readonly Line[],
): Omit<ExplainedFailure, "text"> {
  const shared = (text: string) => {
    const words = new Set(comparable(text).split(" "));
    return comparable(wanted)
      .split(" ")
      .filter((word) => words.has(word)).length;
  };
  const closest = found.reduce<string | undefined>(
    (best, text) => (shared(text) > shared(best ?? "") ? text : best),
    undefined,
  );
  if (closest === undefined) {
    return {
      words: `The assistant should have said “${wanted}”, and said nothing like it.`,
      place: undefined,
    };
  }
  return {
    words: `The assistant should have said “${wanted}”; the closest that it said is “${closest}”.`,
    place: lineOf(speakerOf(lines, closest)),
  };
}

/** As the caller compares: a part of what was heard, ignoring case and punctuation. */
function containsWords(text: string, part: string): boolean {
  return ` ${comparable(text)} `.includes(` ${comparable(part)} `);
}

function speakerOf(lines: readonly Line[], text: string | undefined): Line | undefined {
  const spoken = lines.filter((line) => line.kind === "assistant");
  return spoken.find(({ message }) => message.text === text) ?? spoken.at(-1);
}
