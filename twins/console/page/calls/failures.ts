/** Failed expectations in plain words, each with the place that it is about, where that can be known. */
import { isTool, type Line } from "./timeline.ts";
import { comparable } from "./words.ts";

/** Where a failure can be seen. */
export type FailurePlace =
  | { kind: "line"; line: Line }
  | { kind: "moment"; ms: number }
  | { kind: "rows"; twin: string; table: string }
  | { kind: "requests"; twin: string };

export interface ExplainedFailure {
  /** As the caller reported it. */
  text: string;
  words: string;
  place: FailurePlace | undefined;
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
    ([, index, tool, part, path, wanted, found], { lines }) => ({
      words: `${tool} should have ${part === "result" ? "answered" : "been called with"}${memberOf(path)} ${wanted}, and ${part === "result" ? "answered" : "was called with"} ${found}.`,
      place: lineOf(lines.filter(isTool)[Number(index)]),
    }),
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
    ([, wanted, missing], { lines }) => ({
      words: `Whether “${wanted}” was said cannot be checked: no tool answered ${missing}.`,
      place: lineOf(lines.filter(isTool).at(-1)),
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
    /^database: (\S+) ([\s\S]*): expected (\d+ rows?), found (\d+ rows?)$/,
    ([, table = "", where, wanted, found]) => ({
      words: `The table ${table} should have ${wanted} with ${where}, and has ${found}.`,
      place: { kind: "rows", twin: "postgres", table },
    }),
  ],
  [
    /^requests: (\S+) ([\s\S]*): expected (\d+), found (\d+) of (\d+) requests$/,
    ([, twin = "", where, wanted, found, total]) => ({
      words: `${twin} should have been asked ${times(wanted)} for ${where}, and was ${times(found)}; it had ${total} requests.`,
      place: { kind: "requests", twin },
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

function memberOf(path = ""): string {
  return path === "" ? "" : ` ${path.replace(/^\./, "")}`;
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
