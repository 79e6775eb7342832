/** What the Calls page makes of a call's record. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { afterAll, beforeAll, describe, expect, test as plain } from "vitest";
import { explainFailure, groupFailures } from "../page/calls/failures.ts";
import { partsOf, toolTimes } from "../page/calls/latency-parts.ts";
import { type Line, lineAt, timelineOf } from "../page/calls/timeline.ts";
import type { CallMessage, CallReport } from "../page/calls/types.ts";
import { compareWords, hasSameWords } from "../page/calls/words.ts";
import { sectionsOf, writeMembers } from "../page/calls/yaml.ts";
import { startWithConsole, test } from "../testing/browser.ts";

const message = (position: number, role: CallMessage["role"], startMs: number, endMs: number, text = "") => ({
  position,
  role,
  text,
  name: role === "tool_call" ? "look_up" : null,
  arguments: null,
  tool_call_id: role.startsWith("tool") ? "call_1" : null,
  start_ms: role === "tool_result" ? null : startMs,
  end_ms: role === "tool_call" ? null : endMs,
  recorded_at: null,
  latency: null,
});

const messages: CallMessage[] = [
  message(0, "assistant", 100, 2_000, "Hello."),
  message(1, "user", 4_100, 6_000, "two boats"),
  message(2, "tool_call", 6_500, 6_500),
  message(3, "tool_result", 6_900, 6_900, "{}"),
  message(4, "assistant", 7_000, 9_000, "Done."),
  message(5, "unrecognised", 11_000, 12_000),
];

/** By a clock that began 400 ms later, and that lost 200 ms more on its way. */
const report: CallReport = {
  passed: false,
  failures: [],
  unchecked: [],
  outcome: "completed",
  ended_by: "caller",
  turns: [
    { speaker: "assistant", text: "Hello.", start_ms: 500, end_ms: 2_400, response_ms: null },
    {
      speaker: "caller",
      sample: "to-boats",
      text: "to boats",
      start_ms: 4_500,
      end_ms: 6_400,
      response_ms: null,
    },
    { speaker: "assistant", text: "Done.", start_ms: 7_600, end_ms: 9_600, response_ms: 1_200 },
    { speaker: "caller", sample: "mumble", text: "mm", start_ms: 11_600, end_ms: 12_600, response_ms: null },
    {
      speaker: "caller",
      sample: "late",
      text: "wait",
      start_ms: 20_000,
      end_ms: 21_000,
      response_ms: null,
      cut_off: true,
    },
  ],
};

describe("the timeline", () => {
  const lines = timelineOf(messages, report);

  plain("has what was said and heard in the order of time, by the runtime's clock", () => {
    expect(lines.map(({ kind, startMs }) => [kind, startMs])).toEqual([
      ["assistant", 100],
      ["caller", 4_100],
      ["tool", 6_500],
      ["assistant", 7_000],
      ["caller", 11_000],
      ["caller", 19_400],
    ]);
  });

  plain("gives each utterance the sample that was said, although the clocks drift apart", () => {
    const callers = lines.flatMap((line) => (line.kind === "caller" ? [line] : []));
    expect(callers.map(({ said, message: heard, cutOff }) => [said?.samples, heard?.role, cutOff])).toEqual([
      [["to-boats"], "user", false],
      [["mumble"], "unrecognised", false],
      [["late"], undefined, true],
    ]);
  });

  plain("ties a tool's answer to its call, and an answer to how long the caller waited", () => {
    expect(lines[2]).toMatchObject({ kind: "tool", endMs: 6_900, result: { text: "{}" } });
    expect(lines[3]).toMatchObject({ responseMs: 1_200 });
  });

  plain("is found by a moment", () => {
    const at = (ms: number) => lineAt(lines, ms)?.id;
    expect([0, 100, 3_000, 4_100, 6_700, 8_000].map(at)).toEqual([undefined, "m0", "m0", "m1", "m1", "m4"]);
  });
});

describe("words", () => {
  plain("case and punctuation make no difference", () => {
    expect(hasSameWords("Hello, there!", "hello there")).toBe(true);
    expect(compareWords("Hello, there!", "hello there")).toEqual([{ kind: "both", text: "Hello, there!" }]);
  });

  plain("what differs is told apart: only heard, only said", () => {
    expect(compareWords("I want two boats now", "I want to boats right now")).toEqual([
      { kind: "both", text: "I want" },
      { kind: "heard", text: "two" },
      { kind: "said", text: "to" },
      { kind: "both", text: "boats" },
      { kind: "said", text: "right" },
      { kind: "both", text: "now" },
    ]);
  });
});

describe("the parts of a latency", () => {
  const latency = { endpointing_ms: 400, transcriber_ms: 50, model_ms: 900, voice_ms: 100, turn_ms: 1_600 };
  const figures = (toolMs: number, turnMs = 1_600) =>
    partsOf({ ...latency, turn_ms: turnMs }, 1, toolMs).map(({ name, ms }) => [name, ms]);

  plain("tools have their own, what is left is named, and together they are the whole", () => {
    expect(figures(700)).toEqual([
      ["endpointing", 400],
      ["transcriber", 50],
      ["model", 200],
      ["tool", 700],
      ["voice", 100],
      ["other", 150],
    ]);
  });

  plain("without a tool and without a rest there is neither", () => {
    expect(figures(0, 1_450).map(([name]) => name)).toEqual(["endpointing", "transcriber", "model", "voice"]);
  });

  plain("an answer waits for the tools between it and the caller; at the same time they count once", () => {
    const at = (ms: number) => new Date(ms).toISOString();
    const tool = (position: number, fromMs: number, toMs: number): CallMessage[] => [
      {
        ...message(position, "tool_call", 6_500, 6_500),
        tool_call_id: `c${position}`,
        recorded_at: at(fromMs),
      },
      {
        ...message(position + 1, "tool_result", 6_500, 6_500, "{}"),
        tool_call_id: `c${position}`,
        recorded_at: at(toMs),
      },
    ];
    const spoken = messages.filter(({ role }) => !role.startsWith("tool"));
    const lines = timelineOf([...spoken, ...tool(10, 1_000, 1_300), ...tool(12, 1_200, 1_450)], undefined);
    const times = [...toolTimes(lines)].map(([{ id }, ms]) => [id, ms]);
    expect(times).toEqual([
      ["m0", 0],
      ["m4", 450],
    ]);
  });
});

describe("failures", () => {
  const lines: Line[] = timelineOf(messages, report);
  const explain = (text: string) => explainFailure(text, { lines, durationMs: 21_000 });

  plain.each([
    [
      'tool_calls[0] look_up arguments.id: expected "A", found "B"',
      'look_up should have been called with id "A", and was called with "B".',
      "m2",
    ],
    ["tool_calls: expected none, found look_up", "The tools should have been none, and were look_up.", "m2"],
    [
      'response_ms: expected at most 1000, found 1200 at 7600 ms ("Done.")',
      "The caller waited 1200 ms for this answer; at most 1000 ms were expected.",
      "m4",
    ],
    [
      'heard: expected "to boats", found "two boats"',
      "The caller should have been understood as “to boats”, and was understood as “two boats”.",
      "m1",
    ],
    [
      'said: expected "All done", found "Hello.", "Done."',
      "The assistant should have said “All done”; the closest that it said is “Done.”.",
      "m4",
    ],
  ])("%s", (text, words, line) => {
    expect(explain(text)).toMatchObject({ words, place: { kind: "line", line: { id: line } } });
  });

  plain("a tool that failed comes first, with the failures that may follow from it", () => {
    const failing = messages.map((each) => {
      if (each.role === "tool_call") return { ...each, recorded_at: "2026-01-01T00:00:00.000Z" };
      if (each.role !== "tool_result") return each;
      return { ...each, text: '{"error":"Query read timeout"}', recorded_at: "2026-01-01T00:00:11.000Z" };
    });
    const own = { lines: timelineOf(failing, undefined), durationMs: 21_000 };
    const texts = [
      'heard: expected "to boats", found "two boats"',
      'tool_calls[0] look_up result.status: expected "open", found nothing',
      'said: "{{look_up.status}}" cannot be checked: no tool result has look_up.status',
      'database: boats {"id":"{{look_up.id}}"}: no tool result has look_up.id',
      'database: boats {"id":"7"}: expected 1 row, found 3 rows',
    ];
    const explained = texts.map((text) => explainFailure(text, own));
    const groups = groupFailures(explained, own.lines);
    expect(groups.map(({ words, consequences }) => [words, consequences.map(({ text }) => text)])).toEqual([
      ["look_up failed after 11.0 s: Query read timeout.", texts.slice(1, 4)],
      ["The caller should have been understood as “to boats”, and was understood as “two boats”.", []],
      ["The table boats should have 1 row with id = 7, and has 3 rows.", []],
    ]);
    expect(groups[0]?.place).toMatchObject({ kind: "line", line: { id: "m2" } });
    expect(explained[1]?.words).toBe(
      'look_up should have answered status "open", and failed: Query read timeout.',
    );
    expect(groups[2]?.place).toEqual({ kind: "rows", twin: "postgres", table: "boats", where: { id: "7" } });
  });

  plain("a tool that the scenario expects to fail explains nothing", () => {
    const failing = messages.map((each) =>
      each.role === "tool_result" ? { ...each, text: '{"error":"no"}' } : each,
    );
    const own = { lines: timelineOf(failing, undefined), durationMs: 21_000 };
    const explained = [explainFailure('heard: expected "to boats", found "two boats"', own)];
    expect(groupFailures(explained, own.lines).map(({ text }) => text)).toEqual([explained[0]?.text]);
  });

  plain("what is not known stays as it was reported", () => {
    expect(explain("something new: 5")).toEqual({
      text: "something new: 5",
      words: "something new: 5",
      place: undefined,
    });
  });
});

describe("YAML", () => {
  plain("texts that would be read as something else are quoted", () => {
    const values = [
      "yes",
      "12",
      "a: b",
      "# c",
      "- d",
      "it's {e}",
      " f ",
      "",
      "g\nh",
      "null",
      "*",
      "1e3",
      "i j",
    ];
    expect(
      writeMembers({ values })
        .slice(1)
        .map((line) => line.slice("  - ".length)),
    ).toEqual([...values.slice(0, -1).map((value) => JSON.stringify(value)), "i j"]);
  });

  plain("mappings and lists nest, and what is undefined is left out", () => {
    const value = { a: [{ b: 1, c: { d: true } }, [2]], e: {}, f: [], g: undefined, "h i": null };
    expect(writeMembers(value)).toEqual([
      "a:",
      "  - b: 1",
      "    c:",
      "      d: true",
      "  -",
      "    - 2",
      "e: {}",
      "f: []",
      "h i: null",
    ]);
  });

  plain("the parts of a file are taken as they stand there", () => {
    const text =
      "name: x\nbrain:\n  - heard: '*' # all\n\n    say: |\n      brain: no\n# the end\nexpect: {}\n";
    expect(sectionsOf(text).get("brain")).toBe("brain:\n  - heard: '*' # all\n\n    say: |\n      brain: no");
    expect([...sectionsOf(text).keys()]).toEqual(["name", "brain", "expect"]);
  });
});

describe("a sandbox without a voice runtime", () => {
  let twins: RunningTwins;
  beforeAll(async () => {
    twins = await startWithConsole();
  });
  afterAll(() => twins.stop());

  test("says so", async ({ visit }) => {
    const { page } = await visit(twins, "/dev/calls");
    await page.getByText("This sandbox has no voice runtime").waitFor();
  });
});
