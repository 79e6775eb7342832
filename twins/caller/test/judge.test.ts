import { expect, test } from "vitest";
import type { CallReport } from "../call-report.ts";
import { judge } from "../judge.ts";
import { type ObservedCall, observe } from "../observed.ts";
import type { RuntimeMessage } from "../sandbox-client.ts";
import { type Expectations, scenarioSchema } from "../scenario.ts";

const report: CallReport = {
  outcome: "completed",
  endedBy: "callee",
  reason: "the callee closed the line (code 1000)",
  closeCode: 1000,
  closeReason: "",
  durationMs: 12_000,
  setupMs: 40,
  turns: [
    { speaker: "callee", startMs: 400, endMs: 2_000, responseMs: null, interrupted: false },
    {
      speaker: "caller",
      sample: "say-again",
      text: "Could you say that again, please?",
      startMs: 2_500,
      endMs: 4_000,
      cutOff: false,
    },
    { speaker: "callee", startMs: 4_900, endMs: 8_000, responseMs: 900, interrupted: false },
  ],
  undone: [],
  missedInterruptions: [],
  endedInsideSample: false,
  pacing: {
    frames: 600,
    latenessP50Ms: 1,
    latenessP99Ms: 2,
    latenessMaxMs: 3,
    lateFrames: 0,
    slippedMs: 0,
    speed: 1,
  },
};

const row = { call_id: "c", name: null, arguments: null, tool_call_id: null, start_ms: null, end_ms: null };
const messages: RuntimeMessage[] = [
  { ...row, position: 0, role: "assistant", text: "Hotline.", start_ms: 100 },
  { ...row, position: 1, role: "user", text: "Could you say that again, please?", start_ms: 2_300 },
  {
    ...row,
    position: 2,
    role: "tool_call",
    text: "",
    name: "open",
    arguments: { severity: 2 },
    tool_call_id: "t",
  },
  { ...row, position: 3, role: "tool_result", text: '{"id":"INC-9"}', name: "open", tool_call_id: "t" },
  { ...row, position: 4, role: "assistant", text: "I opened INC-9.", start_ms: 4_600 },
];
const told = {
  service: "agent",
  event_type: "agent_tool_call",
  data: { name: "open", arguments: { severity: 2 }, result: { id: "INC-9" } },
};
const runtime = { call: { id: "c", status: "ended", ended_reason: "assistant-ended-call" }, messages };
const call = observe(report, runtime, [told]);

/** `expect:` as a file would hold it, with its defaults. */
function expecting(given: object): Expectations {
  const file = {
    name: "x",
    description: "x",
    caller: { turns: [{ hang_up: "at_once" }] },
    brain: [{ heard: "*" }],
  };
  return scenarioSchema.parse({ ...file, expect: given }).expect;
}

function judged(given: object, observed: ObservedCall = call, speed = 1) {
  return judge({
    expect: expecting(given),
    call: observed,
    speed,
    requestsOf: async () => [
      { seq: 1, method: "QUERY", path: "/db", body: { parameters: ["INC-9"] } },
      { seq: 2, method: "QUERY", path: "/db", body: { parameters: ["INC-10"] } },
    ],
    rowsOf: async (_table, where) => ({ rows: [], total: where.id === "INC-9" ? 1 : 0 }),
  });
}

test("the assistant's utterances are assigned to the turns in which they were heard, for any clock offset", () => {
  expect(call.turns.map(({ text }) => text)).toEqual([
    "Hotline.",
    "Could you say that again, please?",
    "I opened INC-9.",
  ]);
});

test("the assistant's utterances are assigned to their turns although the caller's clock drifts behind", () => {
  const starts = [400, 6_400, 12_400, 18_400];
  const turns = starts.map((startMs, at) => ({
    speaker: "callee" as const,
    startMs: startMs + at * 2_500,
    endMs: startMs + at * 2_500 + 1_500,
    responseMs: null,
    interrupted: false,
  }));
  const said = starts.flatMap((startMs, at) => [
    { ...row, position: 2 * at, role: "assistant" as const, text: `One ${at}.`, start_ms: startMs },
    { ...row, position: 2 * at + 1, role: "assistant" as const, text: "More.", start_ms: startMs + 700 },
  ]);
  const drifting = observe({ ...report, turns }, { ...runtime, messages: said }, []);
  expect(drifting.turns.map(({ text }) => text)).toEqual(starts.map((_, at) => `One ${at}. More.`));
});

test("a call that did all that is expected has no failures", async () => {
  const { failures, unchecked } = await judged({
    ended_by: "callee",
    ended_reason: "assistant-ended-call",
    tool_calls: [{ tool: "open", arguments: { severity: 2 }, result: { id: "INC-*" } }],
    heard: ["say that again"],
    said: ["I opened {{open.id}}"],
    not_said: ["sorry"],
    interruptions: 0,
    response_ms: 900,
    database: [{ table: "incidents", where: { id: "{{open.id}}" }, count: 1 }],
  });
  expect({ failures, unchecked }).toEqual({ failures: [], unchecked: [] });
});

test.each([
  [
    "outcome",
    { outcome: "stalled" },
    "outcome: expected stalled, found completed (the callee closed the line (code 1000))",
  ],
  [
    "ended_by",
    { ended_by: "caller" },
    "ended_by: expected caller, found callee (the callee closed the line (code 1000))",
  ],
  [
    "ended_reason",
    { ended_reason: "silence-timed-out" },
    'ended_reason: expected silence-timed-out, found "assistant-ended-call"',
  ],
  ["close_code", { close_code: 1011 }, "close_code: expected 1011, found 1000"],
  ["interruptions", { interruptions: 1 }, "interruptions: expected 1, found 0"],
  ["no tool calls", { tool_calls: [] }, "tool_calls: expected none, found open"],
  [
    "arguments",
    { tool_calls: [{ tool: "open", arguments: { severity: 9 } }] },
    "tool_calls[0] open arguments.severity: expected 9, found 2",
  ],
  [
    "result",
    { tool_calls: [{ tool: "open", result: { id: "X" } }] },
    'tool_calls[0] open result.id: expected "X", found "INC-9"',
  ],
  ["heard", { heard: [] }, 'heard: expected nothing, found "Could you say that again, please?"'],
  ["said", { said: ["goodbye"] }, 'said: expected "goodbye", found "Hotline.", "I opened INC-9."'],
  [
    "order of what is said",
    { said: ["I opened", "Hotline"] },
    'said: expected "Hotline", found "I opened INC-9."',
  ],
  ["not_said", { not_said: ["opened"] }, 'not_said: "opened" was said: "I opened INC-9."'],
  [
    "response_ms",
    { response_ms: 800 },
    'response_ms: expected at most 800, found 900 at 4900 ms ("I opened INC-9.")',
  ],
  [
    "database",
    { database: [{ table: "incidents", where: { id: "INC-1" }, count: 1 }] },
    'database: incidents {"id":"INC-1"}: expected 1 row, found 0 rows',
  ],
  [
    "a place no result fills",
    { said: ["{{open.title}}"] },
    'said: "{{open.title}}" cannot be checked: no tool result has open.title',
  ],
])("%s: the failure says what was expected and what was found", async (_what, given, failure) => {
  expect((await judged(given)).failures).toEqual([failure]);
});

test("unreached steps and missed interruptions fail any call that is expected to complete", async () => {
  const cut = { ...report, undone: ['say "Bye."'], missedInterruptions: ["Stop."], endedInsideSample: true };
  expect((await judged({}, observe(cut, runtime, [told]))).failures).toEqual([
    'the call ended before the caller could say "Bye."',
    'the assistant\'s turn was over before "Stop." could interrupt it',
    "the callee's audio ended in the middle of a sample: an odd number of bytes was sent",
  ]);
});

test("a tool call that was not reported to the engine is a failure", async () => {
  const { failures } = await judged({}, observe(report, runtime, []));
  expect(failures).toEqual(["every tool call should be reported to the engine: expected open, found none"]);
});

test("a runtime that is not the twin provides no transcript: tool calls come from the engine, the rest is unchecked", async () => {
  const real = observe(report, undefined, [told]);
  expect(real.turns.map(({ text }) => text)).toEqual([null, "Could you say that again, please?", null]);
  const { failures, unchecked } = await judged(
    { said: ["x"], heard: ["x"], tool_calls: [{ tool: "open" }] },
    real,
  );
  expect(failures).toEqual([]);
  expect(unchecked).toEqual([expect.stringMatching(/^heard: /), expect.stringMatching(/^said: /)]);
});

test("response times are judged in real time only", async () => {
  const { failures, unchecked } = await judged({ response_ms: 1 }, call, 10);
  expect(failures).toEqual([]);
  expect(unchecked).toEqual([expect.stringMatching(/^response_ms: judged at speed 1 only/)]);
});

test("a request is expected with what a tool answered filled in, and a place without a value is named", async () => {
  const asked = (parameter: string) => [
    { twin: "postgres", where: { body: { parameters: [parameter] } }, count: 1 },
  ];
  expect((await judged({ requests: asked("{{open.id}}") })).failures).toEqual([]);
  expect((await judged({ requests: asked("{{open.id}}0") })).failures).toEqual([
    'requests: postgres {"body":{"parameters":["INC-90"]}}: expected 1, found 0 of 2 requests',
  ]);
  expect((await judged({ requests: asked("{{open.title}}") })).failures).toEqual([
    'requests: postgres {"body":{"parameters":["{{open.title}}"]}}: no tool result has open.title',
  ]);
});
