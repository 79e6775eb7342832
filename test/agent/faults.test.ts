import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentBench, API_KEY, startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

/** After a fault nothing may be left: no call in the agent, no socket and no open call at the runtime. */
async function expectNothingLeft(bench: AgentBench): Promise<void> {
  await expectAgentIdle(bench);
  expect(bench.runtime.openCalls).toEqual([]);
}

async function expectAgentIdle(bench: AgentBench): Promise<void> {
  await bench.captured.line((line) => line.msg === "call ended", "the end of the call");
  await bench.runtime.until(() => bench.runtime.openSockets === 0, "no open call socket");
  await bench.idle();
  expect(bench.agent.activeCalls).toBe(0);
}

/** The error lines of calls that may still be open at the runtime. */
function notEnded(bench: AgentBench) {
  return bench.captured.lines.filter((line) => line.msg.includes("be billed"));
}

function expectNoSecrets(bench: AgentBench): void {
  expect(bench.captured.text()).not.toContain(API_KEY);
  expect(bench.captured.text()).not.toContain("/transport");
  for (const call of bench.runtime.calls) {
    expect(bench.captured.text()).not.toContain(call.webhook.headers["x-offhook-secret"]);
  }
}

describe("the runtime refuses", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench();
  });
  afterEach(() => bench.stop());

  const refusals = [
    {
      what: "401",
      answer: { status: 401, body: '{"message":"Invalid Key.","error":"Unauthorized","statusCode":401}' },
      why: "the voice runtime answered 401: Invalid Key.",
    },
    {
      what: "400 with a list of problems",
      answer: { status: 400, body: '{"message":["property X should not exist","y must be a string"]}' },
      why: "the voice runtime answered 400: property X should not exist; y must be a string",
    },
    {
      what: "403 in plain text",
      answer: { status: 403, body: "error code: 1010", contentType: "text/plain" },
      why: "the voice runtime answered 403: error code: 1010",
    },
    { what: "503 without a body", answer: { status: 503, body: "" }, why: "the voice runtime answered 503" },
    {
      what: "a key in the answer",
      answer: { status: 400, body: `{"message":"bad key ${API_KEY}"}` },
      why: "the voice runtime answered 400: bad key [secret]",
    },
    {
      what: "201 that is not JSON",
      answer: { status: 201, body: "<html>" },
      why: "the voice runtime's answer has no usable the body",
    },
    {
      what: "201 without a socket address",
      answer: { status: 201, body: '{"id":"x","transport":{"websocketCallUrl":"http://x/transport"}}' },
      why: "the voice runtime's answer has no usable transport.websocketCallUrl",
    },
  ];
  for (const { what, answer, why } of refusals) {
    test(`${what}: the caller gets callee_no_answer, the log one line why`, async () => {
      bench.runtime.create = { kind: "answer", ...answer };
      const client = await VoiceClient.connect(bench.agent.url);
      expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
      const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
      expect(line).toMatchObject({ outcome: "callee_no_answer", reason: why });
      await expectNothingLeft(bench);
      expectNoSecrets(bench);
    });
  }

  test("the connection is cut", async () => {
    bench.runtime.create = { kind: "cut" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await expectNothingLeft(bench);
    expectNoSecrets(bench);
  });

  test("a refused call socket: the created call is ended at the runtime", async () => {
    bench.runtime.upgrade = { kind: "refuse", status: 401 };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await (await bench.runtime.call()).wasDeleted();
    const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
    expect(line.reason).toBe("the call socket did not open: Unexpected server response: 401");
    await expectNothingLeft(bench);
    expectNoSecrets(bench);
  });
});

describe("the runtime is slow", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench({ env: { CREATE_TIMEOUT_MS: "300", DIAL_TIMEOUT_MS: "300" } });
  });
  afterEach(() => bench.stop());

  test("no answer in time: the request is given up", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await bench.runtime.until(() => bench.runtime.abortedRequests === 1, "the aborted request");
    const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
    expect(line.reason).toBe("the voice runtime did not create the call within 300 ms");
    await expectAgentIdle(bench);
    expect(notEnded(bench)).toHaveLength(1);
  });

  test("an answer after the time is up: the caller is gone, the created call is ended", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    bench.runtime.release();
    await (await bench.runtime.call()).wasDeleted();
    await expectNothingLeft(bench);
  });

  test("a call socket that never opens: the created call is ended at the runtime", async () => {
    bench.runtime.upgrade = { kind: "hang" };
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    await (await bench.runtime.call()).wasDeleted();
    const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
    expect(line.reason).toBe("the call socket did not open within 300 ms");
    await expectNothingLeft(bench);
    expectNoSecrets(bench);
  });
});

test("a runtime that is not there gives callee_no_answer", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  free.close();
  const bench = await startAgentBench({ env: { VOICE_API_URL: `http://127.0.0.1:${port}` } });
  const client = await VoiceClient.connect(bench.agent.url);
  expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
  const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
  expect(line.reason).toContain("ECONNREFUSED");
  await bench.stop();
});

describe("the caller goes while the call is set up", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench({ env: { CREATE_TIMEOUT_MS: "1000" } });
  });
  afterEach(() => bench.stop());

  test("a creation that answers after the call is torn down: the created call is ended at the runtime", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    client.hangUp();
    await client.gone();
    await bench.captured.line((line) => line.msg === "call ended", "the end");
    bench.runtime.release();
    await runtimeCall.wasDeleted();
    await expectNothingLeft(bench);
  });

  test("a creation that does not answer is given up", async () => {
    bench.runtime.create = { kind: "hold" };
    const client = await VoiceClient.connect(bench.agent.url);
    await bench.runtime.call();
    client.hangUp();
    await bench.runtime.until(() => bench.runtime.abortedRequests === 1, "the aborted request");
    await expectAgentIdle(bench);
    const [line, ...more] = notEnded(bench);
    expect(line?.level).toBe(50);
    expect(more).toEqual([]);
    const { body } = await bench.get("/metrics");
    expect(body).toContain('offhook_calls_not_ended_total{reason="unknown_id"} 1\n');
  });

  test("while the socket is dialled: the call is ended at the runtime", async () => {
    bench.runtime.upgrade = { kind: "hang" };
    const client = await VoiceClient.connect(bench.agent.url);
    const runtimeCall = await bench.runtime.call();
    client.hangUp();
    await runtimeCall.wasDeleted();
    await expectNothingLeft(bench);
  });
});

describe("a running call breaks", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench();
  });
  afterEach(() => bench.stop());

  for (const code of [1011, 1012, 1013]) {
    test(`the runtime closes with ${code}: the caller gets 1011 and a reason`, async () => {
      const { client, runtimeCall } = await bench.call();
      runtimeCall.socket.close(code);
      const closed = await client.gone();
      expect(closed.code).toBe(1011);
      expect(closed.reason).toContain(`closed with ${code}`);
      await expectNothingLeft(bench);
    });
  }

  test("the runtime's connection breaks (1006): the caller gets 1011, the call is ended over HTTP", async () => {
    const { client, runtimeCall } = await bench.call();
    runtimeCall.socket.terminate();
    expect((await client.gone()).code).toBe(1011);
    await runtimeCall.wasDeleted();
    await expectNothingLeft(bench);
    expectNoSecrets(bench);
  });

  for (const code of [undefined, 1000]) {
    test(`the runtime closes with ${code ?? "no code"} and no status: the caller gets 1000, the call is ended`, async () => {
      const { client, runtimeCall } = await bench.call();
      runtimeCall.socket.close(code);
      expect((await client.gone()).code).toBe(1000);
      await runtimeCall.wasDeleted();
      await expectNothingLeft(bench);
    });
  }

  test("the runtime ended the call and closed without a word: its record is not deleted", async () => {
    const { client, runtimeCall } = await bench.call();
    runtimeCall.isOver = true;
    runtimeCall.socket.close(1000);
    expect((await client.gone()).code).toBe(1000);
    await expectNothingLeft(bench);
    expect(runtimeCall.deleteRequests).toBe(0);
  });

  test("the runtime sends a broken frame: the caller gets 1011", async () => {
    const { client, runtimeCall } = await bench.call();
    // A frame with a reserved opcode, past the library that would not send one.
    runtimeCall.rawSocket.write(Buffer.from([0x83, 0x00]));
    expect((await client.gone()).code).toBe(1011);
    await expectNothingLeft(bench);
  });

  for (const status of ["ended", "completed"]) {
    test(`status-update ${status}: the caller gets 1000 with the reason`, async () => {
      const { client, runtimeCall } = await bench.call();
      runtimeCall.sendAudio(Buffer.alloc(4_800, 3));
      runtimeCall.send({ type: "status-update", status, endedReason: "assistant-said-end-call-phrase" });
      expect(await client.gone()).toEqual({ code: 1000, reason: "assistant-said-end-call-phrase" });
      expect(client.audioBytes).toBe(4_800);
      await expectNothingLeft(bench);
      expect(runtimeCall.deleteRequests).toBe(0);
    });
  }

  test("status-update failed, or an ended reason that is an error: the caller gets 1011", async () => {
    const first = await bench.call();
    first.runtimeCall.send({ type: "status-update", status: "failed" });
    expect((await first.client.gone()).code).toBe(1011);
    const second = await bench.call();
    const endedReason = "call.in-progress.error-vapifault-transport-never-connected";
    second.runtimeCall.send({ type: "status-update", status: "ended", endedReason });
    expect(await second.client.gone()).toEqual({
      code: 1011,
      reason: `the voice runtime failed: ${endedReason}`,
    });
    await expectNothingLeft(bench);
  });

  test("garbage of the runtime is logged once for each kind and ignored", async () => {
    const { client, runtimeCall } = await bench.call();
    for (let round = 0; round < 3; round += 1) {
      runtimeCall.socket.send("{not json");
      runtimeCall.socket.send("[]");
      runtimeCall.send({ no: "type" });
      runtimeCall.send({ type: "brand-new-thing", secret: "x" });
      runtimeCall.send({ type: "speech-update", status: 7 });
      runtimeCall.send({ type: "conversation-update", conversation: [] });
    }
    const audio = Buffer.alloc(960, 1);
    runtimeCall.sendAudio(audio);
    await client.received(audio.length);
    const odd = bench.captured.lines.filter((line) => line.msg.includes("not understood"));
    expect(odd.map((line) => line.what).sort()).toEqual([
      "a message without a type",
      "a speech-update message of another shape",
      "a text frame that is not JSON",
      "the unknown type brand-new-thing",
    ]);
    client.hangUp();
    await expectNothingLeft(bench);
  });

  test("a runtime that floods: audio and messages go through, the log is bounded, the call stays up", async () => {
    const { client, runtimeCall } = await bench.call();
    const burst = Buffer.alloc(48_000, 3);
    for (let second = 0; second < 20; second += 1) {
      runtimeCall.sendAudio(burst);
      for (let n = 0; n < 500; n += 1) runtimeCall.send({ type: `unheard-of-${second}-${n}` });
    }
    await client.received(20 * burst.length);
    expect(bench.captured.lines.filter((line) => line.msg.includes("not understood"))).toHaveLength(32);
    client.hangUp();
    await expectNothingLeft(bench);
  });

  test("a caller whose connection breaks ends the call at the runtime", async () => {
    const { client, runtimeCall } = await bench.call();
    client.socket.terminate();
    await runtimeCall.gone();
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    await expectNothingLeft(bench);
  });
});

describe("a peer that goes without a word", () => {
  test("is not one that could not be heard because the agent itself was held up", async () => {
    const busy = await startAgentBench({ env: { HEARTBEAT_MS: "100" } });
    try {
      const { client, runtimeCall } = await busy.call();
      for (let stall = 0; stall < 3; stall++) {
        // The answer to the ping is on its way; no timer fires and nothing is read until both are due at once.
        await once(client.socket, "ping");
        for (const until = performance.now() + 350; performance.now() < until; );
        const audio = Buffer.alloc(960, stall);
        runtimeCall.sendAudio(audio);
        await client.received((stall + 1) * audio.length);
      }
      expect(client.closed).toBeUndefined();
      client.hangUp();
      await expectNothingLeft(busy);
    } finally {
      await busy.stop();
    }
  });

  let bench: AgentBench;
  beforeEach(async () => {
    bench = await startAgentBench({ env: { HEARTBEAT_MS: "100" } });
  });
  afterEach(() => bench.stop());

  test("a caller who vanishes without closing is noticed, and the call ended at the runtime", async () => {
    const { client, runtimeCall } = await bench.call();
    // Neither reads nor answers any more, as a machine that lost its network.
    client.socket.pause();
    await runtimeCall.gone();
    expect(runtimeCall.messages).toEqual(['{"type":"end-call"}']);
    const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
    expect(line.outcome).toBe("caller_vanished");
    await expectNothingLeft(bench);
    client.socket.terminate();
  });

  test("a runtime that vanishes without closing is noticed", async () => {
    const { client, runtimeCall } = await bench.call();
    runtimeCall.socket.pause();
    expect((await client.gone()).code).toBe(1011);
    await runtimeCall.wasDeleted();
    runtimeCall.socket.terminate();
    await expectNothingLeft(bench);
  });
});
