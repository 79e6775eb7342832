import { captureLog } from "@offhook/platform/testing/log-lines";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RuntimeApi } from "../../agent/call/runtime-api.ts";
import { RuntimeCalls } from "../../agent/call/runtime-calls.ts";
import { AgentMetrics } from "../../agent/metrics.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type {
  CallPlan,
  CreateBehaviour,
  DeleteFault,
  StandInCall,
  UpgradeBehaviour,
} from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";

/** What the agent says of calls that it could not end. */
function notEnded(bench: AgentBench) {
  return bench.captured.lines.filter((line) => line.msg.includes("be billed"));
}

describe("a call that was created is ended", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench();
  });
  afterEach(() => bench.stop());

  async function expectEnded(call: StandInCall): Promise<void> {
    await bench.idle();
    expect(call.isOpen).toBe(false);
    expect(notEnded(bench)).toEqual([]);
  }

  test("over HTTP when the caller hangs up while the call socket is stuck", async () => {
    const { client, runtimeCall } = await bench.call();
    runtimeCall.socket.pause();
    // More than the operating system buffers: `end-call` waits behind it.
    for (let sent = 0; sent < 30_000_000; sent += 60_000) client.send(Buffer.alloc(60_000, 5));
    await bench.captured.line((line) => line.direction === "to_runtime", "the drop");
    client.hangUp();
    await runtimeCall.wasDeleted();
    expect(runtimeCall.messages).toEqual([]);
    await expectEnded(runtimeCall);
    runtimeCall.socket.terminate();
  });

  test("by its id when the answer has no address", async () => {
    bench.runtime.create = { kind: "create-without", member: "transport" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    const runtimeCall = await bench.runtime.call();
    await runtimeCall.wasDeleted();
    await expectEnded(runtimeCall);
  });

  test("by its socket when the answer has no id, and the call is like any other", async () => {
    bench.runtime.create = { kind: "create-without", member: "id" };
    const { client, runtimeCall } = await bench.call();
    const audio = Buffer.alloc(960, 1);
    runtimeCall.sendAudio(audio);
    await client.received(audio.length);
    client.hangUp();
    await runtimeCall.gone();
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    await expectEnded(runtimeCall);
    expect(bench.runtime.deleteRequests).toBe(0);
  });

  test("by a new socket when the answer has no id and the first socket broke", async () => {
    bench.runtime.create = { kind: "create-without", member: "id" };
    const { client, runtimeCall } = await bench.call();
    runtimeCall.plan.upgrades.push({ kind: "refuse", status: 503 });
    runtimeCall.socket.terminate();
    expect((await client.gone()).code).toBe(1011);
    await expectEnded(runtimeCall);
    expect(bench.captured.text()).not.toContain("/transport");
  });

  test("by a further DELETE when one fails", async () => {
    bench.runtime.upgrade = { kind: "refuse", status: 500 };
    bench.runtime.planOf = () => ({
      deletes: [{ kind: "answer", status: 500 }, { kind: "cut" }, { kind: "answer", status: 429 }],
    });
    const client = await VoiceClient.connect(bench.agent.url);
    // The caller does not wait for it.
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    const runtimeCall = await bench.runtime.call();
    await runtimeCall.wasDeleted();
    expect(runtimeCall.deleteRequests).toBe(4);
    await expectEnded(runtimeCall);
  });

  test("while other creations hang", async () => {
    const hanging: VoiceClient[] = [];
    const { client, runtimeCall } = await bench.call();
    bench.runtime.create = { kind: "hold" };
    // As many as the agent has connections for creations.
    for (let n = 0; n < 70; n += 1) hanging.push(await VoiceClient.connect(bench.agent.url));
    await bench.runtime.until(() => bench.runtime.calls.length >= 64, "the hanging creations");
    runtimeCall.socket.terminate();
    await client.gone();
    await runtimeCall.wasDeleted();
    bench.runtime.create = { kind: "create" };
    bench.runtime.release();
    for (const one of hanging) one.hangUp();
    await bench.idle();
    bench.runtime.release();
    await bench.idle();
    expect(bench.runtime.openCalls).toEqual([]);
  });
});

describe("a call that cannot be ended", () => {
  const unwilling = () => Array.from({ length: 50 }, () => ({ kind: "answer", status: 500 }) as const);

  test("is one error line with its id and the reason, and a count", async () => {
    const bench = await startAgentBench();
    const api = new RuntimeApi({ url: bench.runtime.url, apiKey: "key" });
    const metrics = new AgentMetrics(() => 0);
    const { log, lines } = captureLog();
    const runtimeCalls = new RuntimeCalls({ api, metrics, createTimeoutMs: 60_000 });
    bench.runtime.planOf = () => ({ deletes: unwilling() });
    const never = new AbortController().signal;
    const assistant = { model: { tools: [] } };
    const call = await runtimeCalls.create(assistant, never, log);
    call.end();
    call.end();
    const runtimeCall = await bench.runtime.call();
    await bench.runtime.until(() => runtimeCall.deleteRequests > 1, "a further DELETE");
    await runtimeCalls.drain(100);
    const reason = "the voice runtime answered 500";
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ runtimeCallId: call.id, reason }]);
    expect(metrics.notEnded.value({ reason: "stopped" })).toBe(1);
    expect(metrics.text()).toContain('offhook_calls_not_ended_total{reason="stopped"} 1\n');
    api.close();
    await bench.stop();
  });
});

describe("a creation that is refused", () => {
  test.each([
    { status: 400, mayExist: 0 },
    { status: 429, mayExist: 0 },
    { status: 302, mayExist: 0 },
    { status: 500, mayExist: 1 },
    { status: 503, mayExist: 1 },
    { status: 504, mayExist: 1 },
    { status: 524, mayExist: 1 },
  ])("with $status: whether the call may have been created is said and counted", async (refusal) => {
    const bench = await startAgentBench();
    bench.runtime.create = { kind: "answer", status: refusal.status, body: "<html>the edge" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await bench.idle();
    expect(notEnded(bench)).toMatchObject(
      Array.from({ length: refusal.mayExist }, () => ({
        level: 50,
        reason: `the voice runtime answered ${refusal.status}: <html>the edge`,
      })),
    );
    const { body } = await bench.get("/metrics");
    expect(body.includes('calls_not_ended_total{reason="unknown_id"} 1')).toBe(refusal.mayExist === 1);
    await bench.stop();
  });
});

describe("a kept connection that the runtime closes as the request leaves", () => {
  test("the call is created over a new one, once", async () => {
    const bench = await startAgentBench();
    const first = await bench.call();
    first.client.hangUp();
    await bench.idle();
    bench.runtime.resetNextReused();
    const second = await bench.call();
    expect(second.client.closed).toBeUndefined();
    expect(bench.runtime.resets).toBe(1);
    expect(bench.runtime.calls).toHaveLength(2);
    second.client.hangUp();
    await bench.stop();
  });

  test("a new connection that breaks is not tried again: the call may have been created", async () => {
    const bench = await startAgentBench();
    bench.runtime.create = { kind: "create-and-cut" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await bench.idle();
    expect(bench.runtime.createRequests).toBe(1);
    expect(notEnded(bench)).toHaveLength(1);
    await bench.stop();
  });
});

/** One call with its faults, and when its caller leaves. */
interface Story {
  plan: CallPlan;
  /** What happens while they talk, in this order. */
  talk: ("caller speaks" | "runtime speaks" | "stuck" | "1000" | "1005" | "1012" | "terminate" | "status")[];
  leave: "hang up" | "terminate" | "violation";
  /** Turns of the event loop between connecting and leaving, for callers who do not wait for the call socket. */
  leaveAfterTurns: number | "talk";
}

const createBehaviour = fc.oneof(
  { weight: 4, arbitrary: fc.constant<CreateBehaviour>({ kind: "create" }) },
  { weight: 2, arbitrary: fc.constant<CreateBehaviour>({ kind: "hold" }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<CreateBehaviour>(
      { kind: "create-without", member: "id" },
      { kind: "create-without", member: "transport" },
    ),
  },
);
const upgradeFault = fc.constantFrom<UpgradeBehaviour>(
  { kind: "refuse", status: 401 },
  { kind: "refuse", status: 503 },
  { kind: "hang" },
);
const deleteFault = fc.constantFrom<DeleteFault>(
  { kind: "answer", status: 500 },
  { kind: "answer", status: 429 },
  { kind: "cut" },
);
const story: fc.Arbitrary<Story> = fc.record({
  plan: fc.record({
    create: createBehaviour,
    upgrades: fc.array(upgradeFault, { maxLength: 1 }),
    deletes: fc.array(deleteFault, { maxLength: 2 }),
  }),
  talk: fc.array(
    fc.constantFrom<Story["talk"][number]>(
      "caller speaks",
      "runtime speaks",
      "stuck",
      "1000",
      "1005",
      "1012",
      "terminate",
      "status",
    ),
    { maxLength: 3 },
  ),
  leave: fc.constantFrom("hang up", "terminate", "violation"),
  leaveAfterTurns: fc.oneof(fc.nat(60), fc.constant("talk" as const)),
});

// They wait most of the time, each with an agent and a runtime of its own.
describe.concurrent("random faults at random moments", () => {
  const config = { createTimeoutMs: 1_000, dialTimeoutMs: 300 };

  async function turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Plays one story; the caller has left when it resolves. */
  async function play(bench: AgentBench, { talk, leave, leaveAfterTurns }: Story, id: string): Promise<void> {
    const client = await VoiceClient.connect(bench.agent.url, { headers: { "x-simulation-id": id } });
    if (leaveAfterTurns === "talk") {
      const connected = bench.runtime.until(() => callOf(bench, id)?.isConnected ?? false, "the call socket");
      await Promise.race([client.gone(), connected.catch(() => {})]);
      const runtimeCall = callOf(bench, id);
      for (const what of talk) {
        if (client.closed !== undefined || runtimeCall?.socket.readyState !== 1) break;
        act(what, client, runtimeCall);
        await turns(3);
      }
    } else {
      await turns(leaveAfterTurns);
    }
    if (leave === "violation") client.sendJson({ no: "binary" });
    else if (leave === "terminate") client.socket.terminate();
    else client.hangUp();
    await client.gone();
  }

  function callOf(bench: AgentBench, id: string): StandInCall | undefined {
    return bench.runtime.calls.find(({ request }) => request.assistant.metadata?.simulationId === id);
  }

  function act(what: Story["talk"][number], client: VoiceClient, runtimeCall: StandInCall): void {
    if (what === "caller speaks") client.send(Buffer.alloc(960, 1));
    else if (what === "runtime speaks") runtimeCall.sendAudio(Buffer.alloc(960, 1));
    else if (what === "stuck") runtimeCall.rawSocket.pause();
    else if (what === "terminate") runtimeCall.socket.terminate();
    else if (what === "status") runtimeCall.send({ type: "status-update", status: "ended" });
    else runtimeCall.socket.close(what === "1005" ? undefined : Number(what));
  }

  test("leave no open call at the runtime", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(story, { minLength: 10, maxLength: 20 }), async (stories) => {
        const bench = await startAgentBench({ config });
        const playing: Promise<void>[] = [];
        bench.runtime.planOf = ({ assistant }) => {
          const index = Number(assistant.metadata?.simulationId?.slice(1));
          // A held creation is answered once its caller has left.
          void playing[index]?.then(() => turns(5)).then(() => bench.runtime.release());
          return stories[index]?.plan ?? {};
        };
        playing.push(...stories.map((one, index) => play(bench, one, `s${index}`)));
        await Promise.all(playing);
        await bench.idle();
        const left = bench.runtime.openCalls.map(({ id, request }) => [id, request.assistant.metadata]);
        const lines = notEnded(bench);
        await bench.stop();
        expect(left).toEqual([]);
        expect(lines).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });

  test("and a stop, or two, at a random moment: what is open is an error line with its id", async () => {
    const hangs = fc.constant<DeleteFault[]>(Array.from({ length: 9 }, () => ({ kind: "hang" })));
    const withHangs = fc.record({ story, deletes: fc.option(hangs, { nil: undefined }) });
    const stops = fc.record({ afterTurns: fc.nat(120), twice: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(withHangs, { minLength: 5, maxLength: 10 }), stops, async (all, stop) => {
        const bench = await startAgentBench({ config });
        bench.runtime.planOf = ({ assistant }) => {
          const one = all[Number(assistant.metadata?.simulationId?.slice(1))];
          return { ...one?.story.plan, ...(one?.deletes === undefined ? {} : { deletes: one.deletes }) };
        };
        const playing = all.map(({ story: one }, index) => play(bench, one, `s${index}`).catch(() => {}));
        await turns(stop.afterTurns);
        const stopped = bench.agent.stop();
        if (stop.twice) bench.agent.endCalls();
        await stopped;
        const lines = notEnded(bench);
        const unknown = lines.filter(({ runtimeCallId }) => runtimeCallId === undefined).length;
        const unsaid = bench.runtime.openCalls.filter(
          ({ id }) => !lines.some(({ runtimeCallId }) => runtimeCallId === id),
        );
        await Promise.all(playing);
        await bench.runtime.stop();
        expect(unsaid.length).toBeLessThanOrEqual(unknown);
        const named = lines.flatMap(({ runtimeCallId }) =>
          runtimeCallId === undefined ? [] : [runtimeCallId],
        );
        expect(new Set(named).size).toBe(named.length);
      }),
      { numRuns: 4 },
    );
  });
});
