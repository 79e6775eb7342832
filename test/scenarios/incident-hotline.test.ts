import { readFileSync } from "node:fs";
import { startScriptedCallee } from "@offhook/caller/testing/scripted-callee";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { replay, stage } from "../support/replay.ts";
import { startVoiceRelay } from "../support/voice-relay.ts";

test("an incident is opened: two tools in order, one row more, the id read out", async () => {
  const call = await replay("open-incident");
  expect(call.toolCalls.map(({ name }) => name)).toEqual(["who_is_on_call", "open_incident"]);
  const [, opened] = call.toolCalls;
  expect(opened).toMatchObject({ result: { service: "checkout", severity: 2, status: "open" } });
  expect(call.reported).toEqual(call.toolCalls);
  expect(call.heard).toHaveLength(3);
  expect(call.said.join(" ")).toMatch(/I have opened INC-\d+ with severity two/);
  expect(call.databaseRows).toMatchObject([
    { table: "incidents", rows: [opened?.result && { status: "open" }] },
  ]);
});

test("in json framing it is the same call", async () => {
  const call = await replay("ask-status", { framing: "json" });
  expect(call.failures).toEqual([]);
  expect(call.report).toMatchObject({ outcome: "completed", endedBy: "callee" });
});

test("an interrupted assistant falls silent at once and does not finish its sentence", async () => {
  const call = await replay("barge-in");
  const [, , interrupted, barge] = call.report.turns;
  expect(interrupted).toMatchObject({ speaker: "callee", interrupted: true });
  expect(barge).toMatchObject({ speaker: "caller" });
  // Silence within a second of the caller's first word, in the time of the call: a held-up caller hears it later.
  const spoken = call.runtime?.messages.filter(({ role }) => role === "assistant" || role === "user") ?? [];
  expect(spoken.map(({ role }) => role).slice(1, 4)).toEqual(["user", "assistant", "user"]);
  const [, , sentence, word] = spoken;
  expect((sentence?.end_ms ?? 0) - (word?.start_ms ?? 0)).toBeLessThan(1_000);
  // All of it takes twenty seconds; he interrupts after two and a half.
  expect((interrupted?.endMs ?? 0) - (interrupted?.startMs ?? 0)).toBeLessThan(8_000);
  expect(call.said[1]).not.toContain("read out to you");
});

test("a caller who hangs up in the middle of a sentence ends the runtime's call at once", async () => {
  const call = await replay("hang-up-mid-sentence");
  expect(call.report).toMatchObject({ outcome: "completed", endedBy: "caller" });
  expect(call.runtime?.call).toMatchObject({ status: "ended", ended_reason: "customer-ended-call" });
  expect(call.toolCalls).toEqual([]);
});

test("noise is not speech: nothing is understood, nothing is done, and the silence is noticed", async () => {
  const call = await replay({
    name: "noise-only",
    description: "Nothing but noise.",
    caller: { turns: [{ say: "noise" }, { stay_silent: "until_hang_up" }] },
    brain: [{ heard: "*", say: "Sorry, I did not catch that." }],
    expect: { ended_by: "callee", ended_reason: "silence-timed-out", heard: [], tool_calls: [] },
  });
  expect(call.failures).toEqual([]);
});

test("speech that nobody recognises is answered by nobody, and leaves a row with its length", async () => {
  const call = await replay({
    name: "wrong-rate-only",
    description: "Speech at another rate than the call's.",
    caller: { turns: [{ say: "wrong-rate" }, { stay_silent: "until_hang_up" }] },
    brain: [{ heard: "*", say: "Sorry, I did not catch that." }],
    expect: { ended_by: "callee", ended_reason: "silence-timed-out", heard: [], tool_calls: [] },
  });
  expect(call.failures).toEqual([]);
  const rows = call.runtime?.messages.filter(({ role }) => role !== "assistant") ?? [];
  expect(rows).toMatchObject([{ role: "unrecognised", text: "" }]);
  expect((rows[0]?.end_ms ?? 0) - (rows[0]?.start_ms ?? 0)).toBeGreaterThan(1_000);
});

test("several calls at once to one agent do not hear one another", async () => {
  const { agent, voiceUrl: url } = await stage();
  const scenarios = ["ask-status", "two-tools", "tool-fails"];
  const calls = await Promise.all(scenarios.map((name) => replay(name, { url })));
  expect(calls.map(({ failures }) => failures)).toEqual([[], [], []]);
  await agent.idle();
  expect(agent.activeCalls).toBe(0);
});

test("with a runtime that shows no transcript the tool calls are known from the engine", async () => {
  const { house } = await stage();
  const callee = await startScriptedCallee(async (line) => {
    const simulation = line.request.headers["x-simulation-id"];
    await fetch(`${house.twins.baseUrl}/simulations/${simulation}/events`, {
      method: "POST",
      body: JSON.stringify({
        service: "agent",
        event_type: "agent_tool_call",
        data: { name: "who_is_on_call", arguments: { service: "search" }, result: { engineer: "Ada" } },
      }),
    });
    line.socket.send(Buffer.alloc(960));
    line.socket.close(1000);
  });
  try {
    const call = await replay(
      {
        name: "another-runtime",
        description: "The callee reports a tool call, and no twin saw the call.",
        caller: { turns: [{ stay_silent: "until_hang_up" }] },
        brain: [{ heard: "*", say: "Never said." }],
        expect: { said: ["anything"], tool_calls: [{ tool: "who_is_on_call", result: { engineer: "Ada" } }] },
      },
      { url: callee.url },
    );
    expect(call.failures).toEqual([]);
    expect(call.unchecked).toEqual([expect.stringMatching(/^said: the runtime is not the twin/)]);
    expect(call.toolCalls).toMatchObject([{ name: "who_is_on_call" }]);
  } finally {
    await callee.stop();
  }
});

test("the scenario that the README of the scenarios shows works as it stands", async () => {
  const readme = readFileSync("samples/scenarios/README.md", "utf8");
  const [, yaml = ""] = readme.split("```yaml\n");
  const call = await replay(parse(yaml.split("```")[0] ?? ""));
  expect(call.failures).toEqual([]);
  expect(call.toolCalls).toMatchObject([{ name: "who_is_on_call", arguments: { service: "payments" } }]);
});

test("without the agent's trailing silence the same call stalls, and the report says so", async () => {
  const { voiceUrl } = await stage();
  const relay = await startVoiceRelay(voiceUrl, (message) => message.some((byte) => byte !== 0));
  try {
    const call = await replay("open-incident", { url: relay.url });
    expect(call.report.outcome).toBe("stalled");
    expect(call.failures[0]).toMatch(
      /^outcome: expected completed, found stalled \(.*sent no silence after its speech/,
    );
    expect(call.toolCalls).toEqual([]);
  } finally {
    await relay.stop();
  }
});

test("a script the runtime does not take is refused before the call, with file, rule and reason", async () => {
  const replayed = replay({
    name: "bad-brain",
    description: "Its brain has a rule that does nothing.",
    caller: { turns: [{ say: "say-again" }] },
    brain: [{ heard: "*" }],
  });
  await expect(replayed).rejects.toThrow(/bad-brain\.yaml: brain: .*\n.*rules 0: does nothing/);
});
