import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatLine } from "../../scripts/dev/log-lines.ts";
import { watchFolders } from "../../scripts/dev/watch-folders.ts";
import { voiceUrl } from "../../scripts/dial/options.ts";
import { ConversationPrinter } from "../../scripts/shared/conversation.ts";
import { runAll } from "../../scripts/shared/run-all.ts";
import { terminalOf } from "../../scripts/shared/terminal.ts";
import type { ScenarioEvent } from "../../twins/caller/run-scenario.ts";

/** A stream that keeps what is written. */
function screen(isTTY = false) {
  const lines: string[] = [];
  return { lines, stream: { isTTY, write: (text: string) => lines.push(text.trimEnd()) } };
}

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

test("log lines are for people: time, part, message, details; other output stays as it is", () => {
  const { stream } = screen();
  const terminal = terminalOf(stream, {});
  const line = JSON.stringify({ level: 40, time: 0, pid: 7, hostname: "h", call: "c1", msg: "slow" });
  expect(formatLine("agent", line, terminal)).toBe("00:00:00.000  agent  warning: slow call=c1");
  expect(formatLine("agent", "plain {text}", terminal)).toMatch(/^ +agent {2}plain \{text\}$/);
  expect(formatLine("agent", "{not json", terminal)).toMatch(/\{not json$/);
});

test("a changed file and a new one are told, each burst once, others not at all", async () => {
  const root = mkdtempSync(join(tmpdir(), "offhook-watch-"));
  mkdirSync(join(root, "tools"));
  const told: string[] = [];
  let tell = () => {};
  const next = () => new Promise<void>((resolve) => (tell = resolve));
  const watch = watchFolders(
    root,
    ["tools"],
    (file) => file.endsWith(".ts"),
    (file) => {
      told.push(file);
      tell();
    },
  );
  try {
    const first = next();
    writeFileSync(join(root, "tools", "notes.txt"), "x");
    for (let times = 0; times < 5; times++) writeFileSync(join(root, "tools", "new-tool.ts"), `${times}`);
    await first;
    const second = next();
    writeFileSync(join(root, "tools", "other.ts"), "x");
    await second;
  } finally {
    watch.close();
    rmSync(root, { recursive: true });
  }
  expect(told).toEqual([join("tools", "new-tool.ts"), join("tools", "other.ts")]);
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
