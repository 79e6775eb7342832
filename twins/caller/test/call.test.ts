import { once } from "node:events";
import { createServer } from "node:http";
import { bytesToSamples, concatSamples, samplesToBytes, silence } from "@offhook/audio/pcm";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { afterEach, expect, test } from "vitest";
import { placeCall } from "../call.ts";
import type { CallEvent, CallOptions } from "../call-report.ts";
import type { CallerPlan, CallerStep } from "../steps.ts";
import { type ScriptedCallee, type ScriptedLine, startScriptedCallee } from "../testing/scripted-callee.ts";

const SPEED = 20;
const RATE = 24_000;
const library = readSampleLibrary(SAMPLES_FOLDER);
const greeting = library.get("ask-status").pcm;
const answer = library.get("thanks-goodbye").pcm;
const hangUp: CallerStep = { type: "hang-up", when: "at-once" };
const awaitHangUp: CallerStep = { type: "await-hang-up" };

function say(sample: string, more: Partial<Extract<CallerStep, { type: "say" }>> = {}): CallerStep {
  return { type: "say", utterance: library.get(sample), afterMs: 200, ...more };
}

const callees: ScriptedCallee[] = [];
afterEach(async () => {
  await Promise.all(callees.splice(0).map((callee) => callee.stop()));
});

/** Calls a callee that behaves as given; the caller waits for its greeting unless the plan says otherwise. */
async function call(
  behave: (line: ScriptedLine) => void | Promise<void>,
  plan: Partial<CallerPlan>,
  options: Partial<CallOptions> = {},
) {
  const callee = await startScriptedCallee(behave);
  callees.push(callee);
  const report = await placeCall({
    url: callee.url,
    framing: "binary",
    plan: { waitForCalleeFirst: true, steps: [], ...plan },
    speed: SPEED,
    ...options,
  });
  return { report, line: await callee.line };
}

async function greet(line: ScriptedLine): Promise<void> {
  await line.speak(greeting);
  line.sendTrailingSilence();
}

test("a call is greeting, utterance, reply, and then the caller hangs up", async () => {
  const { report } = await call(
    async (line) => {
      await greet(line);
      await line.afterCallerAudio(library.get("open-incident").durationMs + 800);
      await line.speak(answer);
      line.sendTrailingSilence();
    },
    { steps: [say("open-incident")] },
  );
  expect(report).toMatchObject({ outcome: "completed", endedBy: "caller", closeCode: 1000, undone: [] });
  expect(report.turns.map(({ speaker }) => speaker)).toEqual(["callee", "caller", "callee"]);
  const [, spoken, reply] = report.turns;
  expect(spoken).toMatchObject({ text: library.get("open-incident").text, cutOff: false });
  expect(reply).toMatchObject({ responseMs: (reply?.startMs ?? 0) - (spoken?.endMs ?? 0) });
});

test("the caller sends 960-byte frames without pause: the sample bit for bit, and digital silence around it", async () => {
  const { report, line } = await call(greet, { steps: [say("severity-two"), hangUp] });
  await line.closed;
  expect(line.messages.every(({ data, binary }) => binary && data.byteLength === 960)).toBe(true);
  expect(line.messages.length * 20).toBe(report.durationMs);
  const sent = bytesToSamples(Buffer.concat(line.messages.map(({ data }) => data)));
  const { pcm } = library.get("severity-two");
  const isSound = (sample: number) => sample !== 0;
  const start = sent.findIndex(isSound) - pcm.findIndex(isSound);
  expect(sent.slice(start, start + pcm.length)).toEqual(pcm);
  expect(sent.subarray(0, start).some(isSound)).toBe(false);
  expect(sent.subarray(start + pcm.length).some(isSound)).toBe(false);
});

test("a call of real time is never faster than the wall clock", async () => {
  const startedAt = performance.now();
  const steps: CallerStep[] = [{ type: "stay-silent", forMs: 500 }, hangUp];
  const { report } = await call(greet, { waitForCalleeFirst: false, steps }, { speed: 1 });
  expect(report).toMatchObject({ durationMs: 500, pacing: { frames: 25 } });
  expect(performance.now() - startedAt).toBeGreaterThan(450);
});

test("the callee's turn is committed by 1500 ms of received silence, not by less, nor by nothing", async () => {
  const heard: CallEvent["type"][] = [];
  const before: string[][] = [];
  const { report } = await call(
    async (line) => {
      await line.speak(greeting);
      // The sample itself ends with some 450 ms of it.
      line.sendAudio(silence(900, RATE));
      await line.afterCallerAudio(4_000);
      before.push([...heard]);
      line.sendAudio(silence(600, RATE));
    },
    {},
    { onEvent: ({ type }) => heard.push(type) },
  );
  expect(before).toEqual([["answered", "callee-speaks"]]);
  expect(heard).toEqual(["answered", "callee-speaks", "callee-spoke"]);
  expect(report.outcome).toBe("completed");
});

test("an agent without trailing silence stalls the call", async () => {
  const { report } = await call(
    (line) => line.speak(greeting),
    { steps: [say("open-incident")] },
    { limits: { stallMs: 5_000, stallWallMs: 50 } },
  );
  const undone = [`say "${library.get("open-incident").text}"`];
  expect(report).toMatchObject({ outcome: "stalled", endedBy: "caller", undone });
  expect(report.reason).toMatch(/no silence after its speech/);
});

test("a stall that the callee ends by closing the line is a stall too", async () => {
  const { report } = await call(
    async (line) => {
      await line.speak(greeting);
      await line.afterCallerAudio(12_000);
      line.socket.close(1000);
    },
    { steps: [say("open-incident")] },
  );
  expect(report).toMatchObject({ outcome: "stalled", endedBy: "callee" });
});

test("a text frame in binary framing is a protocol violation", async () => {
  const { report, line } = await call((line) => line.socket.send('{"type":"audio","audio":""}'), {});
  expect(report.outcome).toBe("protocol_violation");
  expect(report.reason).toMatch(/text frame.*audio/);
  expect(await line.closed).toBe(1003);
});

const envelope = (samples: Int16Array) =>
  JSON.stringify({ type: "audio", audio: samplesToBytes(samples).toString("base64") });

test("json framing: audio in envelopes both ways, and an end message ends the call", async () => {
  const { report, line } = await call(
    (line) => line.socket.send(envelope(concatSamples(greeting, silence(1_700, RATE)))),
    { steps: [say("severity-two"), hangUp] },
    { framing: "json" },
  );
  await line.closed;
  expect(report).toMatchObject({ outcome: "completed", endedBy: "caller" });
  expect(line.request.url).toContain("protocol=json");
  const messages = line.messages.map(({ data }) => JSON.parse(data.toString()));
  expect(messages.at(-1)).toEqual({ type: "end" });
  expect(messages.slice(0, -1).every(({ type, audio }) => type === "audio" && audio.length === 1_280)).toBe(
    true,
  );
});

test.each([
  ["binary audio", Buffer.alloc(960)],
  ["an unknown message", '{"type":"ping"}'],
  ["no JSON", "hello"],
])("json framing: %s is a protocol violation", async (_what, message) => {
  const { report } = await call((line) => line.socket.send(message), {}, { framing: "json" });
  expect(report.outcome).toBe("protocol_violation");
});

test("json framing: the callee may end the call with an end message", async () => {
  const { report } = await call(
    (line) => {
      line.socket.send(envelope(silence(20, RATE)));
      line.socket.send('{"type":"end"}');
    },
    {},
    { framing: "json" },
  );
  expect(report).toMatchObject({ outcome: "completed", endedBy: "callee" });
});

test("a caller may hang up in the middle of a sentence", async () => {
  const { report } = await call(greet, { steps: [say("open-incident", { hangUpAfterMs: 900 })] });
  expect(report).toMatchObject({ outcome: "completed", endedBy: "caller", undone: [] });
  const last = report.turns.at(-1);
  expect(last).toMatchObject({ speaker: "caller", cutOff: true });
  expect((last?.endMs ?? 0) - (last?.startMs ?? 0)).toBeLessThanOrEqual(900);
});

test("a caller interrupts after so much heard speech; what is said after the interruption is the reply", async () => {
  const speech = concatSamples(greeting, answer);
  const spoken: { interrupting: boolean; sentMs: number | undefined }[] = [];
  let callee: ScriptedLine | undefined;
  const { report } = await call(
    async (line) => {
      callee = line;
      await line.speak(speech.subarray(0, RATE * 2));
      line.sendTrailingSilence();
      await line.afterCallerAudio(library.get("wait-stop").durationMs);
      await line.speak(answer);
      line.sendTrailingSilence();
    },
    { steps: [say("wait-stop", { interruptAfterMs: 1_000 })] },
    {
      speed: 4,
      onEvent: (event) => {
        if (event.type === "caller-speaks") {
          spoken.push({ interrupting: event.interrupting, sentMs: callee?.sentMs });
        }
      },
    },
  );
  expect(report.turns).toMatchObject([
    { speaker: "callee", interrupted: true },
    { speaker: "caller" },
    { speaker: "callee", interrupted: false },
  ]);
  expect(report.missedInterruptions).toEqual([]);
  expect(spoken).toEqual([{ interrupting: true, sentMs: expect.any(Number) }]);
  // The caller's clock runs on while a held-up process hears nothing: what counts is what was there to be heard.
  expect(spoken[0]?.sentMs).toBeGreaterThanOrEqual(1_000);
  expect(spoken[0]?.sentMs).toBeLessThanOrEqual(2_000);
});

test("an interruption that comes too late is reported", async () => {
  const step = say("wait-stop", { interruptAfterMs: 30_000, hangUpAfterMs: 100 });
  const { report } = await call(greet, { steps: [step] });
  expect(report.missedInterruptions).toEqual([library.get("wait-stop").text]);
});

test("a caller that does not wait for the callee speaks at once", async () => {
  const events: CallEvent[] = [];
  const { report } = await call(
    async (line) => {
      await line.afterCallerAudio(4_500);
      await greet(line);
    },
    { waitForCalleeFirst: false, steps: [say("open-incident", { afterMs: 0 })] },
    { onEvent: (event) => events.push(event) },
  );
  expect(events[0]).toMatchObject({ type: "caller-speaks", atMs: 0 });
  expect(report.turns.map(({ speaker }) => speaker)).toEqual(["caller", "callee"]);
});

test("the callee may hang up on a silent caller", async () => {
  const { report } = await call(
    async (line) => {
      await greet(line);
      await line.afterCallerAudio(5_000);
      line.socket.close(1000, "silence");
    },
    { steps: [awaitHangUp] },
  );
  expect(report).toMatchObject({ outcome: "completed", endedBy: "callee", closeReason: "silence" });
});

test("nobody listening is no answer, and so is a line closed before any audio", async () => {
  const plan = { waitForCalleeFirst: true, steps: [] };
  const nobody = await placeCall({ url: "ws://127.0.0.1:9/voice", framing: "binary", plan });
  expect(nobody).toMatchObject({ outcome: "callee_no_answer", setupMs: null, durationMs: 0 });
  expect(nobody.reason).toMatch(/ECONNREFUSED/);
  const { report } = await call((line) => line.socket.close(1011, "no runtime"), {});
  expect(report).toMatchObject({ outcome: "callee_no_answer", closeCode: 1011, closeReason: "no runtime" });
});

test("an upgrade that is refused is no answer, and says with which status", async () => {
  const server = createServer();
  server.on("upgrade", (_request, socket) =>
    socket.end("HTTP/1.1 503 Too many calls\r\nContent-Length: 0\r\n\r\n"),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const plan = { waitForCalleeFirst: true, steps: [] };
  const report = await placeCall({ url: `ws://127.0.0.1:${port}/voice`, framing: "binary", plan });
  server.close();
  expect(report).toMatchObject({
    outcome: "callee_no_answer",
    reason: "HTTP 503 Too many calls",
    setupMs: null,
  });
});

test("a callee that never says anything times out", async () => {
  const { report } = await call(() => undefined, {}, { limits: { answerTimeoutMs: 200 } });
  expect(report.outcome).toBe("callee_no_answer");
});

test("a call ends at its maximum duration", async () => {
  const { report } = await call(greet, { steps: [awaitHangUp] }, { limits: { durationMs: 6_000 } });
  expect(report).toMatchObject({ outcome: "timeout", durationMs: 6_000 });
});

test("audio cut anywhere keeps its alignment, and a call that ends inside a sample says so", async () => {
  const { report } = await call((line) => {
    const turn = Buffer.concat([
      samplesToBytes(concatSamples(greeting, silence(1_700, RATE))),
      Buffer.alloc(1),
    ]);
    for (let at = 0; at < turn.length; at += 777) line.socket.send(turn.subarray(at, at + 777));
  }, {});
  expect(report).toMatchObject({ outcome: "completed", endedInsideSample: true });
  expect(report.turns).toHaveLength(1);
});

test("a callee that stops reading times out", async () => {
  const { report } = await call(
    (line) => line.socket.pause(),
    { waitForCalleeFirst: false, steps: [awaitHangUp] },
    { speed: 300, limits: { waitingBytes: 64 * 1024, blockedTimeoutMs: 200 } },
  );
  expect(report).toMatchObject({ outcome: "stalled", reason: "the callee took no audio for 0.2 s" });
});

test("a callee that sends audio without end is cut off at the maximum duration", async () => {
  const { report } = await call(
    (line) => {
      for (let sent = 0; sent < 7_000; sent += 1_000) line.sendAudio(silence(1_000, RATE));
    },
    {},
    { limits: { durationMs: 6_000 } },
  );
  expect(report.outcome).toBe("timeout");
  expect(report.durationMs).toBeLessThan(6_000);
});
