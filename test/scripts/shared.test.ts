import { stripVTControlCharacters } from "node:util";
import type { ScenarioEvent, ScenarioRun } from "@offhook/caller/run-scenario";
import fc from "fast-check";
import { expect, test } from "vitest";
import { printLine } from "../../scripts/dev/log-lines.ts";
import { voiceUrl } from "../../scripts/shared/callee.ts";
import { ConversationPrinter } from "../../scripts/shared/conversation.ts";
import { runAll } from "../../scripts/shared/run-all.ts";
import { terminalOf } from "../../scripts/shared/terminal.ts";

/** A stream that keeps what is written. */
function screen(isTTY = false) {
  const lines: string[] = [];
  return { lines, stream: { isTTY, write: (text: string) => lines.push(text.trimEnd()) } };
}

test("lines fit the terminal, and lose no word but where they are cut", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,18}$/), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(words, fc.integer({ min: 40, max: 120 }), (list, columns) => {
      const { lines, stream } = screen(true);
      const terminal = terminalOf({ ...stream, columns }, { NO_COLOR: "1" });
      const text = list.join(" ");
      terminal.wrap(text, { head: "* ", indent: "  " });
      expect(lines.map((line) => line.slice(2)).join(" ")).toBe(text);
      terminal.cut(text, { indent: "  " });
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      const whole = screen();
      terminalOf(whole.stream, {}).wrap(text);
      expect(whole.lines).toEqual([text]);
    }),
    { numRuns: 300 },
  );
});

test("colours are for terminals, and never with NO_COLOR", () => {
  const { stream } = screen(true);
  expect(terminalOf(stream, {}).bad("x")).toBe("\u001b[31mx\u001b[39m");
  expect(terminalOf(stream, { NO_COLOR: "1" }).bad("x")).toBe("x");
  expect(terminalOf({ ...stream, isTTY: false }, {}).bad("x")).toBe("x");
});

test("a text of the assistant that comes late is still printed before what answers it", () => {
  const { lines, stream } = screen();
  const printer = new ConversationPrinter(terminalOf(stream, {}));
  const call = { id: "c", status: "in-progress" };
  const message = { call_id: "c", position: 0, role: "assistant", text: "Hotline." } as const;
  const turn = { speaker: "callee", startMs: 100, endMs: 900, responseMs: null, interrupted: false } as const;
  const events: ScenarioEvent[] = [
    { type: "runtime-call", call },
    { type: "callee-speaks", atMs: 100, responseMs: null },
    { type: "callee-spoke", turn },
    { type: "caller-speaks", text: "Hello.", atMs: 2_700, interrupting: false },
    { type: "message", message },
  ];
  for (const event of events) printer.print(event);
  expect(lines).toEqual(["  0.1 s  agent   Hotline.", "  2.7 s  caller  Hello."]);
});

test("speech in which the runtime recognised nothing is told where it was said", () => {
  const { lines, stream } = screen();
  const printer = new ConversationPrinter(terminalOf(stream, {}));
  const unrecognised = { call_id: "c", position: 0, role: "unrecognised", text: "" } as const;
  const events: ScenarioEvent[] = [
    { type: "runtime-call", call: { id: "c", status: "in-progress" } },
    { type: "caller-speaks", text: "Mumble.", atMs: 2_700, interrupting: false },
    { type: "message", message: { ...unrecognised, start_ms: 2_800, end_ms: 4_910 } },
  ];
  for (const event of events) printer.print(event);
  expect(lines).toEqual(["  2.7 s  caller  Mumble.", "                  heard nothing, 2.1 s of speech"]);
});

/** A call of three turns as the caller's side and as the runtime's side tell it. */
const call = { id: "c", status: "in-progress" };
const told = (role: "assistant" | "user" | "tool_call" | "tool_result", text: string): ScenarioEvent => ({
  type: "message",
  message: { call_id: "c", position: 0, role, text, name: "look", tool_call_id: "t", arguments: {} },
});
const heard = (startMs: number, responseMs: number | null): ScenarioEvent[] => [
  { type: "callee-speaks", atMs: startMs, responseMs },
  {
    type: "callee-spoke",
    turn: { speaker: "callee", startMs, endMs: startMs + 900, responseMs, interrupted: false },
  },
];
const says = (text: string, atMs: number): ScenarioEvent => ({
  type: "caller-speaks",
  text,
  atMs,
  interrupting: false,
});
const audible = [
  ...heard(100, null),
  says("One.", 2_000),
  ...heard(4_000, 500),
  says("Two.", 6_000),
  ...heard(8_000, 700),
];
const written = [
  told("assistant", "First."),
  told("user", "One."),
  told("tool_call", ""),
  told("tool_result", "{}"),
  told("assistant", "Second."),
  told("user", "Two."),
  told("assistant", "Third."),
];
/** How much the runtime cannot have written before so much was audible: it answers what the caller has said. */
const needsAudible = [0, 3, 3, 3, 3, 6, 6];
const transcript = [
  "  0.1 s  agent   First.",
  "  2.0 s  caller  One.",
  "look",
  "→ {}",
  "  4.0 s  agent   Second.  (after 0.5 s)",
  "  6.0 s  caller  Two.",
  "  8.0 s  agent   Third.  (after 0.7 s)",
  "done, after 9.0 s",
];

test("the transcript is the same whichever of sound and text comes first", () => {
  const order = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(order, (choices) => {
      const { lines, stream } = screen();
      const printer = new ConversationPrinter(terminalOf(stream, {}));
      printer.print({ type: "runtime-call", call });
      let [sounds, texts] = [0, 0];
      for (const prefersText of choices) {
        const mayWrite = texts < written.length && sounds >= (needsAudible[texts] ?? 0);
        const event =
          mayWrite && (prefersText || sounds >= audible.length) ? written[texts++] : audible[sounds++];
        if (event !== undefined) printer.print(event);
      }
      // Only what is printed of a finished call is looked at.
      printer.finish({ report: { reason: "done", durationMs: 9_000 } } as ScenarioRun);
      expect(lines.map((line) => line.replace(/^ {10,}/, "").replace(/^look\(.*/, "look"))).toEqual(
        transcript,
      );
    }),
    { numRuns: 2_000 },
  );
});

test("log lines are for people: time, part, message, details; other output stays as it is", () => {
  const print = (line: string) => {
    const { lines, stream } = screen();
    printLine("agent", line, terminalOf(stream, {}));
    return lines;
  };
  const line = JSON.stringify({ level: 40, time: 0, pid: 7, hostname: "h", call: "c1", msg: "slow" });
  expect(print(line)).toEqual(["00:00:00.000  agent  warning: slow call=c1"]);
  expect(print("plain {text}")).toEqual([`${" ".repeat(14)}agent  plain {text}`]);
  expect(print("{not json")).toEqual([`${" ".repeat(14)}agent  {not json`]);
});

test.each([60, 80, 120])("log lines fit a terminal of %i columns, whatever their style", (columns) => {
  const { lines, stream } = screen(true);
  const terminal = terminalOf({ ...stream, columns }, {});
  const url = "http://127.0.0.1:43285";
  const message = { level: 40, time: 0, msg: `agent listens on ${url}`, url, runtime: `${url}/s/dev` };
  printLine("agent", JSON.stringify(message), terminal);
  const shown = lines.map((line) => stripVTControlCharacters(line));
  expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(shown.map((line) => line.slice(21)).join(" ")).toBe(
    `warning: agent listens on ${url} url=${url} runtime=${url}/s/dev`,
  );
  expect(shown.slice(1).every((line) => line.startsWith(" ".repeat(21)))).toBe(true);
});

test("an agent's address is understood with http or ws, with or without the path of the voice channel", () => {
  expect(voiceUrl("http://127.0.0.1:8008")).toBe("ws://127.0.0.1:8008/voice");
  expect(voiceUrl("wss://agent.example/voice?token=x")).toBe("wss://agent.example/voice?token=x");
  expect(() => voiceUrl("ftp://x")).toThrow(/not a WebSocket/);
});

test("calls run so many at a time, and their results keep their order", async () => {
  let running = 0;
  let most = 0;
  const results = await runAll([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([10, 20, 30, 40, 50]);
  expect(most).toBe(2);
});
