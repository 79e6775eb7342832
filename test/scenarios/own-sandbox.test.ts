import { expect, test } from "vitest";
import { house, type InlineScenario, replay, stage } from "../support/replay.ts";

const AT_ONCE = 8;

const askForNight: InlineScenario = {
  name: "ask-for-night",
  description: "A service and its engineer that only this scenario has.",
  given: {
    postgres: {
      on_call: [{ service: "billing", engineer_id: 77 }],
      services: [{ name: "billing", description: "Invoices" }],
      engineers: [{ id: 77, name: "Noor Night", phone: "+1 555 0177" }],
    },
  },
  caller: { turns: [{ say: "who-is-on-call" }, { stay_silent: "until_hang_up" }] },
  brain: [
    {
      heard: "*",
      call: [{ tool: "who_is_on_call", arguments: { service: "billing" } }],
      say: "It is {{who_is_on_call.engineer}}.",
      end_call: true,
    },
  ],
  expect: {
    said: ["It is Noor Night"],
    requests: [
      {
        twin: "postgres",
        where: { method: "QUERY", status: 200, body: { parameters: ["billing"] } },
        count: 1,
      },
      { twin: "vapi", where: { method: "POST", path: "/call", status: 201 }, count: 1 },
    ],
  },
};

test("a scenario's rows are there before its call, and its verdict is read from what the twins were asked", async () => {
  const call = await replay(askForNight);
  expect(call.failures).toEqual([]);
});

test("rows that a twin does not take are refused before the call, with file, twin and reason", async () => {
  const given = { postgres: { on_call: [{ service: "nowhere", engineer_id: 77 }] } };
  await expect(replay({ ...askForNight, given })).rejects.toThrow(
    /ask-for-night\.yaml: given: postgres does not take these rows: [\s\S]*on_call\.service/,
  );
});

test("a request that was not made fails the scenario, which says what was found", async () => {
  const requests = [{ twin: "postgres", where: { body: { statement: "DELETE *" } }, count: 1 }];
  const call = await replay({ ...askForNight, expect: { requests } });
  expect(call.failures).toEqual([
    expect.stringMatching(/^requests: postgres .*DELETE.*: expected 1, found 0 of \d+ requests$/),
  ]);
});

test("the trace of a call has what was said, what the twins were asked and what the agent reported, in time order", async () => {
  const { trace = [], failures } = await replay("open-incident");
  expect(failures).toEqual([]);
  const offsets = trace.map(({ offset_ms }) => offset_ms);
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  const at = (members: object) => {
    const wanted = Object.entries(members);
    return trace.findIndex((line) => wanted.every(([name, value]) => String(line[name]).includes(value)));
  };
  const ran = (text: string) =>
    trace.findIndex(({ service, body }) => service === "postgres" && JSON.stringify(body).includes(text));
  const order = [
    at({ source: "vendor", service: "vapi", path: "/call" }),
    at({ source: "speech", speaker: "assistant" }),
    at({ source: "speech", speaker: "user", text: "open an incident" }),
    ran("on_call"),
    at({ source: "agent", name: "who_is_on_call" }),
    at({ source: "speech", speaker: "user", text: "error page" }),
    ran("INSERT INTO incidents"),
    at({ source: "agent", name: "open_incident" }),
    at({ source: "speech", text: "I have opened INC" }),
  ];
  expect(order).not.toContain(-1);
  expect(order).toEqual([...order].sort((a, b) => a - b));
});

test("scenarios side by side, each in its own sandbox, all open the same next incident and leave nothing", async () => {
  const calls = await Promise.all(
    Array.from({ length: AT_ONCE }, () => replay("open-incident", { speed: 4 })),
  );
  expect(calls.flatMap(({ failures }) => failures)).toEqual([]);
  expect(calls.map(({ toolCalls }) => toolCalls[1]?.result)).toEqual(
    Array.from({ length: AT_ONCE }, () => expect.objectContaining({ id: "INC-1042" })),
  );
  const { twins } = await house();
  const listed = await fetch(`${twins.baseUrl}/sandboxes`, { headers: { "x-api-key": twins.apiKey } });
  expect(await listed.json()).toMatchObject({ sandboxes: [{ id: "dev" }] });
});

test("a scenario's faults are refused with what is wrong, and gone when its call is over", async () => {
  const busy = { effect: "status", status: 503, operation: "assistant.list" };
  const scenario: InlineScenario = {
    name: "busy",
    description: "The voice runtime is busy, where nobody asks it.",
    faults: { vapi: [busy, { ...busy, effect: "nothing" }] },
    caller: { turns: [{ say: "thanks-goodbye" }, { stay_silent: "until_hang_up" }] },
    brain: [{ heard: "*", say: "Goodbye.", end_call: true }],
    expect: { ended_by: "callee", tool_calls: [] },
  };
  await expect(replay(scenario)).rejects.toThrow(/faults: vapi does not take them/);
  const { house: running, voiceUrl: url } = await stage();
  const { baseUrl, apiKey } = running.twins;
  expect((await replay({ ...scenario, faults: { vapi: [busy] } }, { url })).failures).toEqual([]);
  const left = await fetch(`${baseUrl}/c/dev/vapi/sim/faults`, { headers: { "x-api-key": apiKey } });
  expect(await left.json()).toEqual({ faults: [] });
});
