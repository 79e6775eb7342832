import { Watched } from "@offhook/platform/testing/watched";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { registryOf } from "../../tools/registry.ts";
import { defineTool, type ToolContext } from "../../tools/tool.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { StandInCall } from "../support/stand-in-runtime.ts";
import type { VoiceClient } from "../support/voice-client.ts";

let runs = 0;
let context: ToolContext | undefined;
let late: { release: () => void } | undefined;
const together = new Watched();
let waiting = 0;

const tools = registryOf([
  {
    tool: defineTool({
      name: "count_runs",
      description: "Counts how often it is run.",
      parameters: z.object({}),
      run: async (_args, given) => {
        runs += 1;
        context = given;
        return { runs };
      },
    }),
  },
  {
    tool: defineTool({
      name: "order_pizza",
      description: "Wants its arguments right.",
      parameters: z.object({ size: z.number().int().min(1), topping: z.string() }),
      run: async (args) => args,
    }),
  },
  {
    tool: defineTool({
      name: "fail",
      description: "Throws.",
      parameters: z.object({}),
      run: () => {
        throw new Error("the oven\nis broken");
      },
    }),
  },
  {
    tool: defineTool({
      name: "quote",
      description: "Throws what it was told.",
      parameters: z.object({ text: z.string(), number: z.number() }),
      run: ({ text, number }) => {
        throw new Error(`nothing is called ${text}, ${number}`);
      },
    }),
  },
  {
    tool: defineTool({
      name: "hang",
      description: "Takes too long.",
      parameters: z.object({}),
      timeoutMs: 50,
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    }),
  },
  {
    tool: defineTool({
      name: "wait_for_release",
      description: "Answers when told.",
      parameters: z.object({}),
      run: () =>
        new Promise((resolve) => {
          runs += 1;
          late = { release: () => resolve("done") };
          together.changed();
        }),
    }),
  },
  {
    tool: defineTool({
      name: "meet",
      description: "Waits until two of it run.",
      parameters: z.object({}),
      run: async () => {
        waiting += 1;
        together.changed();
        await together.until(() => waiting >= 2, "the other call");
        return "met";
      },
    }),
  },
  {
    tool: defineTool({
      name: "odd_values",
      description: "Returns what JSON has no word for.",
      parameters: z.object({}),
      run: async () => ({ at: new Date(0), big: 10n, lines: "a\nb\u2028c\r\n", set: new Set([1]) }),
    }),
  },
]);

describe("POST /tool", () => {
  let bench: AgentBench;
  let client: VoiceClient;
  let call: StandInCall;
  beforeAll(async () => {
    bench = await startAgentBench({ tools });
    ({ client, runtimeCall: call } = await bench.call());
  });
  afterAll(async () => {
    client.hangUp();
    await bench.stop();
  });

  /** Posts calls and answers their results, parsed. */
  async function post(items: unknown[], headers: Record<string, string> = {}): Promise<unknown[]> {
    const { status, results } = await bench.postTools(call, { message: { toolCallList: items } }, headers);
    expect(status).toBe(200);
    for (const { result } of results) expect(result).not.toMatch(/[\n\r\u2028\u2029]/);
    return results.map(({ result }) => JSON.parse(result));
  }

  const shapes = [
    {
      what: "function with an object",
      item: { id: "s1", function: { name: "order_pizza", arguments: { size: 1, topping: "x" } } },
    },
    {
      what: "function with a JSON string",
      item: { id: "s2", function: { name: "order_pizza", arguments: '{"size":1,"topping":"x"}' } },
    },
    {
      what: "flat with arguments",
      item: { id: "s3", name: "order_pizza", arguments: { size: 1, topping: "x" } },
    },
    {
      what: "flat with parameters",
      item: { id: "s4", name: "order_pizza", parameters: { size: 1, topping: "x" } },
    },
    {
      what: "toolCallId",
      item: { toolCallId: "s5", name: "order_pizza", arguments: { size: 1, topping: "x" } },
    },
  ];
  for (const { what, item } of shapes) {
    test(`an item in the shape "${what}" is understood`, async () => {
      expect(await post([item])).toEqual([{ size: 1, topping: "x" }]);
    });
  }

  test("whatever is wrong with a call, every call has its entry, in order", async () => {
    const items = [
      { id: "1", name: "count_runs" },
      { id: "2", name: "unheard_of" },
      { id: "3", name: "order_pizza", arguments: { size: 0 } },
      { id: "4", name: "order_pizza", arguments: "{broken" },
      { id: "5", name: "fail" },
      { id: "6", name: "hang" },
      "nonsense",
      null,
      { id: 9, name: "odd_values", arguments: "" },
    ];
    const { results } = await bench.postTools(call, { message: { toolCallList: items } });
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(["1", "2", "3", "4", "5", "6", "", "", "9"]);
    const parsed = results.map(({ result }) => JSON.parse(result));
    expect(parsed[1].error).toMatch(/no tool unheard_of; there are count_runs, order_pizza/);
    expect(parsed[2].error).toMatch(/size: .*; topping: /);
    expect(parsed[3].error).toMatch(/arguments: .*object/);
    expect(parsed[4]).toEqual({ error: "the oven\nis broken" });
    expect(parsed[5]).toEqual({ error: "hang did not answer within 50 ms" });
    expect(parsed[6].error).toMatch(/no tool without a name/);
    expect(parsed[8]).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      big: "10",
      lines: "a\nb\u2028c\r\n",
      set: [1],
    });
  });

  test("calls of one request run in parallel", async () => {
    waiting = 0;
    expect(
      await post([
        { id: "p1", name: "meet" },
        { id: "p2", name: "meet" },
      ]),
    ).toEqual(["met", "met"]);
  });

  test("a repeated toolCallId gets the first answer again, and the tool is not run twice", async () => {
    const [first] = await post([{ id: "again", name: "count_runs" }]);
    const runsAfterFirst = runs;
    expect(await post([{ id: "again", name: "count_runs" }])).toEqual([first]);
    expect(
      await post([
        { id: "twice", name: "count_runs" },
        { id: "twice", name: "count_runs" },
      ]),
    ).toEqual([{ runs: runsAfterFirst + 1 }, { runs: runsAfterFirst + 1 }]);
    expect(runs).toBe(runsAfterFirst + 1);
  });

  test("a repeated toolCallId of a tool still running waits for the same answer", async () => {
    const runsBefore = runs;
    const first = post([{ id: "slow", name: "wait_for_release" }]);
    await together.until(() => late !== undefined, "the tool to run");
    const second = post([{ id: "slow", name: "wait_for_release" }]);
    const other = await post([
      { id: "meanwhile", name: "order_pizza", arguments: { size: 2, topping: "y" } },
    ]);
    expect(other).toEqual([{ size: 2, topping: "y" }]);
    late?.release();
    expect(await Promise.all([first, second])).toEqual([["done"], ["done"]]);
    expect(runs).toBe(runsBefore + 1);
  });

  test("the same toolCallId in another call is another tool call", async () => {
    const other = await bench.call();
    const [first] = await post([{ id: "shared", name: "count_runs" }]);
    const answer = await bench.postTools(other.runtimeCall, {
      message: { toolCallList: [{ id: "shared", name: "count_runs" }] },
    });
    expect(JSON.parse(answer.results[0]?.result ?? "")).not.toEqual(first);
    other.client.hangUp();
    await other.runtimeCall.gone();
  });

  for (const secret of ["", "wrong"]) {
    test(`with the secret "${secret}" nothing is run, and every call is told`, async () => {
      const before = runs;
      const results = await post(
        [
          { id: "u1", name: "count_runs" },
          { id: "u2", name: "count_runs" },
        ],
        { "x-offhook-secret": secret },
      );
      expect(results).toEqual([
        { error: expect.stringContaining("unauthorised") },
        { error: expect.stringContaining("unauthorised") },
      ]);
      expect(runs).toBe(before);
    });
  }

  test("a foreign secret, a body without tool calls: each is logged once and counted every time", async () => {
    const foreign = { "x-offhook-secret": "of another agent" };
    for (let round = 0; round < 3; round += 1) {
      await post([{ id: `f${round}`, name: "count_runs" }], foreign);
      await bench.postTools(call, "{oops");
    }
    const lines = (reason: string) => bench.captured.lines.filter((line) => line.reason === reason);
    expect(lines("foreign_secret")).toHaveLength(1);
    expect(lines("foreign_secret")[0]?.msg).toContain("TOOL_SECRET");
    expect(lines("no_tool_calls")).toHaveLength(1);
    const { body } = await bench.get("/metrics");
    expect(Number(/webhooks_refused_total\{reason="foreign_secret"\} (\d+)/.exec(body)?.[1])).toBeGreaterThan(
      2,
    );
    expect(bench.captured.text()).not.toContain("of another agent");
  });

  test("what the caller said stays out of the log: an invented tool's name, arguments that an error quotes", async () => {
    const words = "the-caller's-own-words";
    const results = await post([
      { id: "w1", name: `tool-of-${words}`, arguments: { a: words } },
      { id: "w2", name: "quote", arguments: { text: words, number: 4_155_550_100 } },
    ]);
    // The model is told.
    expect(results).toEqual([
      { error: expect.stringContaining(words) },
      { error: `nothing is called ${words}, 4155550100` },
    ]);
    const line = await bench.captured.line((one) => one.toolCallId === "w2", "the failed tool");
    expect(line.reason).toBe("nothing is called [argument], [argument]");
    expect(bench.captured.text()).not.toContain(words);
    expect(bench.captured.text()).not.toContain("4155550100");
  });

  const bodies = [
    { what: "that is not JSON", body: "{oops", headers: {} },
    { what: "that is empty", body: "", headers: {} },
    { what: "without toolCallList", body: '{"message":{"type":"status-update"}}', headers: {} },
    { what: "whose toolCallList is no list", body: '{"message":{"toolCallList":{}}}', headers: {} },
    { what: "that is no object", body: "7", headers: {} },
    { what: "in an unknown encoding", body: "{}", headers: { "content-encoding": "weird" } },
    { what: "beyond the limit", body: "x".repeat(5_000_000), headers: {} },
    { what: "of another content type", body: "a=b", headers: { "content-type": "text/plain" } },
  ];
  for (const { what, body, headers } of bodies) {
    test(`a body ${what} is answered 200 with no results`, async () => {
      expect(await bench.postTools(call, body, headers)).toEqual({ status: 200, results: [] });
    });
  }

  test("a webhook of a call the agent does not know works", async () => {
    expect(await post([{ id: "x", name: "count_runs" }], { "x-offhook-call": "unknown" })).toEqual([
      { runs },
    ]);
  });

  test("a tool knows the runtime's call id, from the body or from the call itself", async () => {
    await post([{ id: "ctx1", name: "count_runs" }]);
    expect(context?.callId).toBe(call.id);
    await bench.postTools(
      call,
      { message: { call: { id: "from-body" }, toolCallList: [{ id: "ctx2", name: "count_runs" }] } },
      { "x-offhook-call": "unknown" },
    );
    expect(context?.callId).toBe("from-body");
  });

  test("the database that is not configured is an error the model is told", async () => {
    await expect(context?.database.query("SELECT 1")).rejects.toThrow("set DATABASE_URL");
  });
});
