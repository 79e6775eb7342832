import type { SpeechDetector } from "@offhook/audio/speech-detector";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { afterEach, describe, expect, test } from "vitest";
import type { BrainRequest, BrainStep, ToolCall } from "../../providers/provider.ts";
import type { ToolOutcome } from "../../session/contract.ts";
import { CHARACTER_MS, createLevelDetector, frequencyOf, VOICE_HZ } from "../../testing/tone-speech.ts";
import { ASSISTANT, brief, echo, hangUpAll, type LiveCall, placeCall, startCall } from "./live-call.ts";

afterEach(hangUpAll);

const GREETS = {
  firstMessage: "Hello, incident hotline.",
  firstMessageMode: "assistant-speaks-first",
} as const;
const lookUp: ToolCall = { id: "call_1", name: "look_up", arguments: { id: "INC-1041" } };

const LONG_SENTENCE = `This is a sentence long enough to be interrupted ${"and it goes on ".repeat(10)}.`;
/** For calls in which the client reacts to what it hears: a busy machine has time to react. */
const REACTING = 5;

function* longTalk(): Iterable<BrainStep> {
  yield { type: "say", text: LONG_SENTENCE };
}

/** Calls a tool for the user's first words, then says what came back. */
function* toolUser({ conversation }: BrainRequest): Iterable<BrainStep> {
  const last = conversation.at(-1);
  if (last?.role === "tool") yield { type: "say", text: `It is ${last.content}.` };
  else if (conversation.some(({ role }) => role === "tool")) yield { type: "say", text: "As I said." };
  else yield { type: "call-tools", calls: [lookUp] };
}

function lastConversation(call: LiveCall): unknown {
  return call.messages.findLast(({ type }) => type === "conversation-update")?.conversation;
}

const withoutPartials = (call: LiveCall) => call.story.filter((line) => !line.includes("partial"));

describe("messages", () => {
  test("stand in the order of a recorded call: greeting, turn, answer, end", async () => {
    const call = await startCall({ assistant: GREETS, brain: echo });
    await call.brief("transcript assistant final: Hello, incident hotline.");
    await call.say(call.tone(500, 800));
    await call.brief("transcript assistant final: You said: What is the status?");
    call.command({ type: "end-call" });
    expect(await call.closed()).toBe(1000);
    expect((await call.ended).endedReason).toBe("customer-ended-call");
    expect(withoutPartials(call)).toEqual([
      "status-update in-progress",
      "assistant.started",
      "speech-update assistant started 0",
      "speech-update assistant stopped 0",
      "transcript assistant final: Hello, incident hotline.",
      "conversation-update",
      "speech-update user started 1",
      "conversation-update",
      "transcript user final: What is the status?",
      "model-output",
      "voice-input",
      "speech-update assistant started 1",
      "speech-update user stopped 1",
      "speech-update assistant stopped 1",
      "transcript assistant final: You said: What is the status?",
      "conversation-update",
      "status-update ended",
    ]);
    expect(call.statuses).toEqual(["in-progress", "ended customer-ended-call"]);
  });

  test("the assistant's partials are cumulative, word by word, and the final is the whole", async () => {
    const call = await startCall({ assistant: GREETS });
    await call.brief("transcript assistant final: Hello, incident hotline.");
    const partials = call.story.filter((line) => line.startsWith("transcript assistant partial"));
    expect(partials).toEqual([
      "transcript assistant partial: Hello,",
      "transcript assistant partial: Hello, incident",
    ]);
    expect(call.messages.find(({ type }) => type === "transcript")).toMatchObject({
      assistantName: "hotline",
    });
  });

  test("the user's partials come while they speak, in growing text", async () => {
    const call = await startCall({ brain: echo });
    await call.say(call.tone(1000, 1_600));
    await call.message((message) => brief(message).startsWith("transcript user final"));
    const partials = call.story.filter((line) => line.startsWith("transcript user partial"));
    expect(partials.length).toBeGreaterThanOrEqual(2);
    const lengths = partials.map((line) => line.length);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  });

  test("speech-update stopped comes after the last byte of the assistant's turn", async () => {
    const call = await startCall({ assistant: GREETS });
    const stopped = await call.brief("speech-update assistant stopped 0");
    const at = call.arrivals.findIndex(
      (arrival) => arrival.type === "message" && arrival.message === stopped,
    );
    const before = call.arrivals
      .slice(0, at)
      .reduce((sum, it) => sum + (it.type === "audio" ? it.bytes.length : 0), 0);
    await call.brief("transcript assistant final: Hello, incident hotline.");
    const all = call.arrivals.reduce((sum, it) => sum + (it.type === "audio" ? it.bytes.length : 0), 0);
    expect(before).toBe(all);
    expect(before).toBe("Hello, incident hotline.".length * CHARACTER_MS * 32);
  });

  test("clientMessages filters the socket; publish gets all", async () => {
    const call = await startCall({ assistant: { ...GREETS, clientMessages: ["transcript"] } });
    await call.brief("transcript assistant final: Hello, incident hotline.");
    expect(new Set(call.messages.map(({ type }) => type))).toEqual(new Set(["transcript"]));
    expect(new Set(call.published.map(({ type }) => type))).toContain("speech-update");
  });

  test("assistant.speechStarted is sent on subscription: each sentence as it starts, with the text so far", async () => {
    const clientMessages = [...ASSISTANT.clientMessages, "assistant.speechStarted"];
    const call = await startCall({ assistant: { ...GREETS, firstMessage: "One. Two.", clientMessages } });
    await call.brief("transcript assistant final: One. Two.");
    expect(call.messages.filter(({ type }) => type === "assistant.speechStarted")).toEqual([
      { type: "assistant.speechStarted", text: "One.", turn: 0, source: "force-say" },
      { type: "assistant.speechStarted", text: "One. Two.", turn: 0, source: "force-say" },
    ]);
  });

  test("a client that sends no audio hears the greeting, by the wall clock", async () => {
    const call = await placeCall({ assistant: { ...GREETS, firstMessage: "Hi." } });
    await call.brief("transcript assistant final: Hi.");
    expect(call.story[0]).toBe("status-update in-progress");
    expect(call.sentMs).toBe(0);
  });
});

describe("turns", () => {
  test("an utterance with a 900 ms pause inside is heard whole, as one turn", async () => {
    const call = await startCall({ brain: echo });
    await call.say(call.tone(700, 700), call.pause(900), call.tone(500, 800));
    await call.brief("transcript assistant final: You said: and then What is the status?");
    expect(call.records.filter(({ role }) => role === "user")).toEqual([
      expect.objectContaining({ text: "and then What is the status?" }),
    ]);
  });

  test("a reply is dropped and the turn transcribed again when the user continues before the assistant is audible", async () => {
    const call = await startCall({ brain: echo, assistant: { startSpeakingPlan: patient } });
    await call.say(call.tone(400, 600), call.pause(900), call.tone(500, 800));
    await call.brief("transcript assistant final: You said: Hello there. What is the status?");
    expect(withoutPartials(call).filter((line) => line.startsWith("transcript"))).toEqual([
      "transcript user final: Hello there.",
      "transcript user final: Hello there. What is the status?",
      "transcript assistant final: You said: Hello there. What is the status?",
    ]);
    const conversation = lastConversation(call);
    expect(conversation).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello there. What is the status?" },
      { role: "assistant", content: "You said: Hello there. What is the status?" },
    ]);
    expect(call.records.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("a noise after a recognised sentence does not undo it", async () => {
    const call = await startCall({ brain: echo, assistant: { startSpeakingPlan: patient } });
    await call.say(call.tone(400, 600), call.pause(700), call.tone(2_500, 300));
    await call.brief("transcript assistant final: You said: Hello there.");
  });

  test("speech in which nothing is recognised gives no reply and no transcript; rows say so, and the log once", async () => {
    let asked = 0;
    const logged = captureLog();
    const call = await startCall({
      log: logged.log,
      brain: (request) => {
        asked += 1;
        return echo(request);
      },
    });
    const noise = [call.tone(2_500, 800), call.pause(3_000)];
    await call.say(...noise, ...noise, call.tone(400, 500));
    await call.brief("transcript assistant final: You said: Hello there.");
    expect(asked).toBe(1);
    expect(call.story.filter((line) => line.startsWith("transcript user final"))).toHaveLength(1);
    const rows = call.records.flatMap((record) => (record.role === "unrecognised" ? [record] : []));
    expect(rows.map(({ startMs, endMs }) => endMs - startMs)).toEqual([800, 800]);
    expect(logged.lines.filter(({ level }) => level >= 40)).toMatchObject([
      {
        turn: 0,
        speechMs: 800,
        msg: expect.stringMatching(/nothing was recognised.* pcm_s16le at 16000 Hz/),
      },
    ]);
    expect(call.published.map(({ type }) => type)).not.toContain("unrecognised");
  });

  test("barge-in stops the audio at once; only what was spoken is kept; the user is then answered", async () => {
    const replies = [longTalk, echo];
    const call = await startCall({ brain: (request) => (replies.shift() ?? echo)(request), speed: REACTING });
    await call.say(call.tone(400, 600));
    await call.brief("speech-update assistant started 0");
    await call.until(() => (call.heardMs > 1_500 ? true : undefined));
    await call.say(call.tone(500, 800));
    const interrupted = await call.message(({ type }) => type === "user-interrupted");
    const heardMs = call.heardMs;
    expect(interrupted.turnId).toBe(call.messages.find(({ type }) => type === "model-output")?.turnId);
    await call.brief("transcript assistant final: You said: What is the status?");
    const story = withoutPartials(call);
    const from = story.indexOf("user-interrupted");
    expect(story.slice(from - 1, from + 3)).toEqual([
      "speech-update user started 1",
      "user-interrupted",
      "speech-update assistant stopped 0",
      expect.stringMatching(/^transcript assistant final: This is a sentence/),
    ]);
    expect(heardMs).toBeLessThan(LONG_SENTENCE.length * CHARACTER_MS);
    const said = call.records.find(({ role }) => role === "assistant");
    expect(said?.role === "assistant" && said.text.length * CHARACTER_MS).toBeLessThanOrEqual(heardMs + 60);
    const conversation = lastConversation(call);
    expect(conversation).toContainEqual({
      role: "assistant",
      content: said?.role === "assistant" ? said.text : "",
    });
    call.session.end("manually-canceled");
    expect((await call.ended).userInterruptions).toBe(1);
  });

  test("with numWords the interruption waits for words; acknowledgements pass", async () => {
    const stopSpeakingPlan = { ...ASSISTANT.stopSpeakingPlan, numWords: 2 };
    const call = await startCall({ assistant: { stopSpeakingPlan }, brain: longTalk, speed: REACTING });
    await call.say(call.tone(400, 600));
    await call.brief("speech-update assistant started 0");
    await call.say(call.tone(800, 400));
    await call.brief("transcript user final: okay");
    expect(call.story).not.toContain("user-interrupted");
    await call.say(call.tone(1000, 900));
    await call.message(({ type }) => type === "user-interrupted");
  });

  test("a muted customer is not heard; unmuted they are", async () => {
    const call = await startCall({ brain: echo });
    call.command({ type: "control", control: "mute-customer" });
    await call.say(call.pause(200), call.tone(400, 600), call.pause(1_000));
    call.command({ type: "control", control: "unmute-customer" });
    await call.say(call.pause(200), call.tone(500, 600));
    await call.brief("transcript user final: What is the status?");
    expect(call.story).not.toContain("transcript user final: Hello there.");
  });

  test("a muted assistant speaks on in silence", async () => {
    const call = await startCall();
    call.command({ type: "control", control: "mute-assistant" });
    call.command({ type: "say", content: "Nobody hears this." });
    await call.brief("transcript assistant final: Nobody hears this.");
    expect(call.heard.length).toBeGreaterThan(0);
    expect(call.heard.every((sample) => sample === 0)).toBe(true);
  });

  test("every answered turn has latencies", async () => {
    const call = await startCall({ brain: echo });
    await call.say(call.tone(500, 800));
    await call.brief("transcript assistant final: You said: What is the status?");
    call.session.end("manually-canceled");
    const { turnLatencies, durationMs } = await call.ended;
    expect(turnLatencies).toHaveLength(1);
    expect(turnLatencies[0]?.endpointingLatency).toBe(400);
    expect(turnLatencies[0]?.turnLatency).toBeGreaterThanOrEqual(400);
    expect(turnLatencies[0]?.turnLatency).toBeLessThan(3_000);
    expect(durationMs).toBeGreaterThan(1_000);
  });
});

const patient = { ...ASSISTANT.startSpeakingPlan, waitSeconds: 2 };

describe("tools", () => {
  test("a reply calls its tools and continues with their results, in one turn", async () => {
    const clientMessages = [...ASSISTANT.clientMessages, "tool-calls-result"];
    const tools = [{ name: "look_up", description: "Looks up.", parameters: {} }];
    const call = await startCall({
      assistant: { model: { ...ASSISTANT.model, tools }, clientMessages },
      brain: toolUser,
      parts: { runTools: async (calls) => calls.map((toolCall) => ({ call: toolCall, content: "open" })) },
    });
    await call.say(call.tone(500, 600));
    await call.brief("transcript assistant final: It is open.");
    const functionCall = {
      id: "call_1",
      type: "function",
      function: { name: "look_up", arguments: { id: "INC-1041" } },
    };
    expect(call.messages.find(({ type }) => type === "tool-calls")).toEqual({
      type: "tool-calls",
      toolCallList: [functionCall],
      toolWithToolCallList: [{ type: "function", function: tools[0], toolCall: functionCall }],
    });
    expect(call.messages.find(({ type }) => type === "tool-calls-result")).toEqual({
      type: "tool-calls-result",
      toolCallResult: { toolCallId: "call_1", name: "look_up", result: "open" },
    });
    expect(call.messages.some(({ type }) => type === "tool.completed")).toBe(false);
    expect(call.records.map(({ role }) => role)).toEqual(["user", "tool_call", "tool_result", "assistant"]);
    const conversation = lastConversation(call);
    expect(conversation).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is the status?" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "look_up", arguments: '{"id":"INC-1041"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "open" },
      { role: "assistant", content: "It is open." },
    ]);
  });

  test("what the user says while tools run is heard, and answered after their reply", async () => {
    let finish: (outcomes: ToolOutcome[]) => void = () => {};
    const call = await startCall({
      brain: toolUser,
      parts: {
        runTools: () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      },
    });
    await call.say(call.tone(500, 600));
    await call.message(({ type }) => type === "tool-calls");
    await call.say(call.tone(1000, 900));
    await call.brief("transcript user final: Tell me more about it please.");
    finish([{ call: lookUp, content: "open" }]);
    await call.brief("transcript assistant final: As I said.");
    expect(withoutPartials(call).filter((line) => line.startsWith("transcript"))).toEqual([
      "transcript user final: What is the status?",
      "transcript user final: Tell me more about it please.",
      "transcript assistant final: It is open.",
      "transcript assistant final: As I said.",
    ]);
    const conversation = lastConversation(call);
    expect(Array.isArray(conversation) && conversation.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  test("a reply interrupted while its tools run is over; the next one has the results", async () => {
    let finish: (outcomes: ToolOutcome[]) => void = () => {};
    let rounds = 0;
    const call = await startCall({
      speed: REACTING,
      *brain(request) {
        rounds += 1;
        if (rounds > 1) return yield* echo(request);
        yield { type: "say", text: LONG_SENTENCE };
        yield { type: "call-tools", calls: [lookUp] };
      },
      parts: {
        runTools: () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      },
    });
    await call.say(call.tone(500, 600));
    await call.message(({ type }) => type === "tool-calls");
    await call.until(() => (call.heardMs > 500 ? true : undefined));
    await call.say(call.tone(400, 800), call.pause(1_000));
    await call.message(({ type }) => type === "user-interrupted");
    await call.brief("transcript user final: Hello there.");
    expect(rounds).toBe(1);
    finish([{ call: lookUp, content: "open" }]);
    await call.brief("transcript assistant final: You said: Hello there.");
    const conversation = lastConversation(call);
    expect(Array.isArray(conversation) && conversation.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
      "assistant",
    ]);
    expect(Array.isArray(conversation) && LONG_SENTENCE.startsWith(conversation[2].content)).toBe(true);
  });

  test("speech during the silence of a tool call interrupts nothing; the reply follows it", async () => {
    let finish: (outcomes: ToolOutcome[]) => void = () => {};
    const call = await startCall({
      speed: REACTING,
      *brain({ conversation }) {
        const last = conversation.at(-1);
        if (last?.role === "tool") yield { type: "say", text: "It is open." };
        else if (conversation.some(({ role }) => role === "tool")) yield { type: "say", text: "As I said." };
        else {
          yield { type: "say", text: "One moment." };
          yield { type: "call-tools", calls: [lookUp] };
        }
      },
      parts: {
        runTools: () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      },
    });
    await call.say(call.tone(500, 600));
    await call.until(() => (call.heardMs >= "One moment.".length * CHARACTER_MS ? true : undefined));
    void call.say(call.pause(300), call.tone(1000, 1_500));
    await call.brief("speech-update user started 1");
    finish([{ call: lookUp, content: "open" }]);
    await call.brief("transcript assistant final: As I said.");
    expect(withoutPartials(call).filter((line) => /final|assistant st|interrupted/.test(line))).toEqual([
      "transcript user final: What is the status?",
      "speech-update assistant started 0",
      "transcript user final: Tell me more about it please.",
      "speech-update assistant stopped 0",
      "transcript assistant final: One moment. It is open.",
      "speech-update assistant started 1",
      "speech-update assistant stopped 1",
      "transcript assistant final: As I said.",
    ]);
  });

  test("the next sentence is synthesised while the previous one is spoken", async () => {
    const asked: string[] = [];
    let spokenWhenAsked = "";
    const call = await startCall({
      *brain() {
        yield { type: "say", text: "The first sentence." };
        yield { type: "say", text: "The second sentence." };
      },
      parts: {
        synthesis: {
          async speak(text) {
            asked.push(text);
            if (asked.length === 2)
              spokenWhenAsked = call.story.filter((line) => line.includes("final: The")).join();
            return new Int16Array(16_000);
          },
        },
      },
    });
    await call.say(call.tone(500, 600));
    await call.brief("transcript assistant final: The first sentence. The second sentence.");
    expect(asked).toEqual(["The first sentence.", "The second sentence."]);
    expect(spokenWhenAsked).toBe("");
    expect(call.heardMs).toBe(2_000);
  });

  test("a model that streams faster than speech waits: only a few sentences are prepared ahead", async () => {
    let given = 0;
    const call = await startCall({
      *brain() {
        for (given = 0; given < 1_000; given++)
          yield { type: "say", text: `Sentence ${given} goes on and on.` };
      },
    });
    await call.say(call.tone(500, 600));
    await call.until(() => (call.heardMs > 2_000 ? true : undefined));
    expect(given).toBeLessThan(10);
  });
});

describe("the end", () => {
  test("the model ends the call: endCallMessage is spoken, then status-update ended, then close 1000", async () => {
    const call = await startCall({
      assistant: { endCallMessage: "Goodbye then." },
      *brain() {
        yield { type: "say", text: "All done." };
        yield { type: "end-call" };
      },
    });
    await call.say(call.tone(500, 600));
    expect(await call.closed()).toBe(1000);
    expect(withoutPartials(call).slice(-6)).toEqual([
      "conversation-update",
      "speech-update assistant started 0",
      "speech-update assistant stopped 0",
      "transcript assistant final: Goodbye then.",
      "conversation-update",
      "status-update ended",
    ]);
    expect((await call.ended).endedReason).toBe("assistant-ended-call");
  });

  test("the model may end the call without a word", async () => {
    const call = await startCall({
      *brain() {
        yield { type: "end-call" };
      },
    });
    await call.say(call.tone(500, 600));
    expect(await call.closed()).toBe(1000);
    expect((await call.ended).endedReason).toBe("assistant-ended-call");
    expect(call.heardMs).toBe(0);
  });

  test("an end call phrase spoken by the assistant ends the call", async () => {
    const call = await startCall({
      assistant: { endCallPhrases: ["have a nice day"] },
      *brain() {
        yield { type: "say", text: "Have a nice day!" };
      },
    });
    await call.say(call.tone(500, 600));
    await call.closed();
    expect((await call.ended).endedReason).toBe("assistant-said-end-call-phrase");
    expect(call.story).toContain("transcript assistant final: Have a nice day!");
  });

  test("say with endCallAfterSpoken ends the call when it is spoken", async () => {
    const call = await startCall();
    call.command({ type: "say", content: "Closing now.", endCallAfterSpoken: true });
    expect(await call.closed()).toBe(1000);
    expect((await call.ended).endedReason).toBe("assistant-ended-call-after-message-spoken");
    expect(call.heardMs).toBe("Closing now.".length * CHARACTER_MS);
  });

  test("hangup is end-call", async () => {
    const call = await startCall();
    call.command({ type: "hangup" });
    expect(await call.closed()).toBe(1000);
    expect((await call.ended).endedReason).toBe("customer-ended-call");
  });

  test("silenceTimeoutSeconds and maxDurationSeconds count media time", async () => {
    const silent = await startCall({ assistant: { silenceTimeoutSeconds: 12 }, speed: 40 });
    const lasting = await startCall({
      assistant: { maxDurationSeconds: 14, silenceTimeoutSeconds: 60 },
      speed: 40,
    });
    expect(await silent.ended).toMatchObject({ endedReason: "silence-timed-out", durationMs: 12_000 });
    expect(await lasting.ended).toMatchObject({ endedReason: "exceeded-max-duration", durationMs: 14_000 });
    // By the wall clock it would be forty times as much.
    for (const call of [silent, lasting]) expect(call.sentMs).toBeLessThan(240_000);
  });

  test("end(reason, closeCode) of the runtime's side closes with that code", async () => {
    const call = await startCall();
    await call.brief("status-update in-progress");
    call.session.end("worker-shutdown", 1012);
    expect(await call.closed()).toBe(1012);
    expect(call.messages.at(-1)).toEqual({
      type: "status-update",
      status: "ended",
      endedReason: "worker-shutdown",
    });
  });

  test("a socket lost without end-call leaves the call live until its silence timeout", async () => {
    const logged = captureLog();
    const call = await startCall({ assistant: { silenceTimeoutSeconds: 2 }, log: logged.log });
    await call.brief("status-update in-progress");
    call.client.terminate();
    await logged.line(({ msg }) => msg.includes("stays live"), "the loss");
    expect(call.statuses).toEqual(["in-progress"]);
    expect((await call.ended).endedReason).toBe("silence-timed-out");
  });

  test("a call ended before anybody connected closes the socket that comes late", async () => {
    const call = await placeCall({ endBeforeConnect: true });
    expect(await call.closed()).toBe(1000);
    expect(call.statuses).toEqual(["ended manually-canceled"]);
  });
});

describe("assistant-waits-for-user", () => {
  const WAITS = {
    firstMessage: "Hello, incident hotline.",
    firstMessageMode: "assistant-waits-for-user",
  } as const;

  test("the first message answers the caller's first turn, and the model is not asked, as in a recorded call", async () => {
    const asked: BrainRequest[] = [];
    const call = await startCall({
      assistant: WAITS,
      brain: (request) => {
        asked.push(request);
        return echo(request);
      },
    });
    await call.say(call.tone(400, 600));
    await call.brief("transcript assistant final: Hello, incident hotline.");
    expect(asked).toEqual([]);
    expect(withoutPartials(call).slice(2)).toEqual([
      "speech-update user started 0",
      "conversation-update",
      "transcript user final: Hello there.",
      "speech-update assistant started 0",
      "speech-update user stopped 0",
      "speech-update assistant stopped 0",
      "transcript assistant final: Hello, incident hotline.",
      "conversation-update",
    ]);
    await call.say(call.tone(500, 600));
    await call.brief("transcript assistant final: You said: What is the status?");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.conversation).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello there." },
      { role: "assistant", content: "Hello, incident hotline." },
      { role: "user", content: "What is the status?" },
    ]);
  });
});

describe("commands", () => {
  test("say-first-message says it, whoever speaks first", async () => {
    const call = await startCall({ assistant: { firstMessage: "Hello." } });
    call.command({ type: "control", control: "say-first-message" });
    await call.brief("transcript assistant final: Hello.");
  });

  test("what is asked before the call is connected is done once it is", async () => {
    let begin: (detector: SpeechDetector) => void = () => {};
    const call = await startCall({
      createDetector: () =>
        new Promise((resolve) => {
          begin = resolve;
        }),
      assistant: GREETS,
    });
    call.session.command({
      type: "say",
      content: "Early.",
      endCallAfterSpoken: false,
      interruptAssistantEnabled: false,
      interruptionsEnabled: true,
    });
    begin(createLevelDetector(100, 400));
    await call.brief("transcript assistant final: Early.");
    expect(withoutPartials(call).filter((line) => line.startsWith("transcript"))).toEqual([
      "transcript assistant final: Hello, incident hotline.",
      "transcript assistant final: Early.",
    ]);
  });

  test("add-message is answered, unless told otherwise", async () => {
    const call = await startCall({ brain: echo });
    const message = (content: string) => ({ type: "add-message", message: { role: "user", content } });
    call.command({ ...message("Quiet one"), triggerResponseEnabled: false });
    call.command(message("Loud one"));
    await call.brief("transcript assistant final: You said: Loud one");
    expect(withoutPartials(call).filter((line) => line.startsWith("transcript"))).toHaveLength(1);
  });

  test("what is no command is logged once and ignored", async () => {
    const logged = captureLog();
    const call = await startCall({ log: logged.log, brain: echo });
    for (const text of ["not json", "[]", '{"type":"say"}', '{"type":"transfer"}', '{"type":"transfer"}']) {
      call.client.send(text);
    }
    await call.say(call.tone(400, 500));
    await call.brief("transcript assistant final: You said: Hello there.");
    const problems = logged.lines.filter(({ msg }) => msg.includes("ignored")).map(({ problem }) => problem);
    expect(problems).toEqual([
      "a command is a JSON object with a string `type`",
      expect.stringContaining("content"),
      "transfer",
    ]);
  });
});

test("the assistant's voice arrives unharmed", async () => {
  const call = await startCall({ assistant: GREETS });
  await call.brief("speech-update assistant stopped 0");
  expect(frequencyOf(call.heard)).toBeCloseTo(VOICE_HZ, -1);
});
