import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { openAiEndpoint } from "@offhook/platform/openai/http";
import { type CapturedLog, captureLog } from "@offhook/platform/testing/log-lines";
import {
  completion,
  OPENAI_KEY,
  type OpenAiServer,
  startOpenAiServer,
} from "@offhook/platform/testing/openai-server";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import wavefile from "wavefile";
import { createOpenAiBrain, openAiLimits } from "../../providers/openai-brain.ts";
import { createOpenAiRecognition } from "../../providers/openai-recognition.ts";
import { createOpenAiSynthesis } from "../../providers/openai-synthesis.ts";
import type { BrainStep, ConversationMessage } from "../../providers/provider.ts";
import { createSentenceCutter } from "../../providers/sentence-cutter.ts";

const APOLOGY = "Sorry, I am having trouble answering right now. Could you say that again?";
let server: OpenAiServer;
let logs: CapturedLog;
const signal = new AbortController().signal;

beforeEach(async () => {
  logs = captureLog();
  server = await startOpenAiServer();
});
afterEach(async () => {
  await server.stop();
  expect(logs.text()).not.toContain(OPENAI_KEY);
});

const conversation: ConversationMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Who is on call?" },
  { role: "assistant", content: "", toolCalls: [{ id: "call_1", name: "who", arguments: { service: "x" } }] },
  { role: "tool", toolCallId: "call_1", name: "who", content: null },
];
const request = {
  simulationId: undefined,
  model: { provider: "openai", model: "gpt-4.1", temperature: 0.3, maxTokens: 400 },
  conversation,
  tools: [{ name: "who", description: "Says who.", parameters: { type: "object" } }],
};

async function reply(model?: string): Promise<BrainStep[]> {
  const brain = createOpenAiBrain({ endpoint: server.endpoint, model, limits: openAiLimits, log: logs.log });
  const steps: BrainStep[] = [];
  for await (const step of brain.reply(request, signal)) steps.push(step);
  return steps;
}

describe("the brain", () => {
  test("asks with the whole conversation, the tools and the key", async () => {
    server.answer = (response) => void response.end(completion([{ content: "Ada." }]));
    expect(await reply()).toEqual([{ type: "say", text: "Ada." }]);
    const [asked] = server.requests;
    expect(asked?.path).toBe("/v1/chat/completions");
    expect(asked?.headers.authorization).toBe(`Bearer ${OPENAI_KEY}`);
    expect(JSON.parse(asked?.body.toString() ?? "")).toEqual({
      model: "gpt-4.1",
      stream: true,
      temperature: 0.3,
      max_tokens: 400,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Who is on call?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "who", arguments: '{"service":"x"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "No result returned." },
      ],
      tools: [{ type: "function", function: request.tools[0] }],
      tool_choice: "auto",
    });
    await reply("local-model");
    expect(JSON.parse(server.requests[1]?.body.toString() ?? "").model).toBe("local-model");
  });

  test("asks a reasoning model without the limits that it refuses", async () => {
    server.answer = (response) => void response.end(completion([{ content: "Ada." }]));
    for (const model of ["o4-mini", "gpt-5-nano", "gpt-4o"]) await reply(model);
    const limits = server.requests.map(({ body }) => {
      const { temperature, max_tokens } = JSON.parse(body.toString());
      return { temperature, max_tokens };
    });
    expect(limits).toEqual([{}, {}, { temperature: 0.3, max_tokens: 400 }]);
  });

  test("speaks each sentence while the next is still being written", async () => {
    let finish: () => void = () => undefined;
    server.answer = async (response) => {
      response.write(completion([{ content: "Ada is on call. She" }]).replace("data: [DONE]\n\n", ""));
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      response.end(completion([{ content: " has 3.5 hours left." }]));
    };
    const brain = createOpenAiBrain({
      endpoint: server.endpoint,
      model: undefined,
      limits: openAiLimits,
      log: logs.log,
    });
    const steps = brain.reply(request, signal)[Symbol.asyncIterator]();
    expect((await steps.next()).value).toEqual({ type: "say", text: "Ada is on call." });
    finish();
    expect((await steps.next()).value).toEqual({ type: "say", text: "She has 3.5 hours left." });
    expect((await steps.next()).done).toBe(true);
  });

  test("assembles tool calls from their deltas, however the bytes are cut", async () => {
    const text = completion([
      { content: "One moment." },
      { tool_calls: [{ index: 0, id: "call_a", function: { name: "who", arguments: '{"serv' } }] },
      { tool_calls: [{ index: 1, id: "call_b", function: { name: "who", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: 'ice":"ünï"}' } }] },
    ]).replaceAll("\n", "\r\n");
    server.answer = async (response) => {
      for (const byte of Buffer.from(text)) {
        if (!response.write(Buffer.of(byte))) await once(response, "drain");
      }
      response.end();
    };
    expect(await reply()).toEqual([
      { type: "say", text: "One moment." },
      {
        type: "call-tools",
        calls: [
          { id: "call_a", name: "who", arguments: { service: "ünï" } },
          { id: "call_b", name: "who", arguments: {} },
        ],
      },
    ]);
  });

  const broken: [string, string, string][] = [
    ["ends without [DONE]", completion([{ content: "Half" }]).replace("data: [DONE]\n\n", ""), "broke off"],
    ["sends what is not JSON", "data: {\n\n", "not JSON"],
    ["sends another shape", 'data: {"choices":[{"delta":{"content":7}}]}\n\n', "not a chat completion"],
    ["reports an error", 'data: {"error":{"message":"overloaded"}}\n\n', "reports an error"],
    [
      "calls a tool with arguments that are not JSON",
      completion([{ tool_calls: [{ index: 0, id: "a", function: { name: "who", arguments: "{" } }] }]),
      "not a JSON object",
    ],
  ];
  test.each(broken)("apologises for a stream that %s", async (_name, text, reason) => {
    server.answer = (response) => void response.end(text);
    expect((await reply()).at(-1)).toEqual({ type: "say", text: APOLOGY });
    expect(logs.text()).toContain(reason);
  });

  test("apologises for an error status, a cut connection and an unreachable server", async () => {
    server.answer = (response) => void response.writeHead(429).end('{"error":{"message":"slow down"}}');
    expect(await reply()).toEqual([{ type: "say", text: APOLOGY }]);
    expect(logs.text()).toContain("429");
    server.answer = (response) => {
      response.write("data: ");
      response.destroy();
    };
    expect(await reply()).toEqual([{ type: "say", text: APOLOGY }]);
    server.endpoint.baseUrl = "http://127.0.0.1:1/v1";
    expect(await reply()).toEqual([{ type: "say", text: APOLOGY }]);
  });

  test("times out on silence, not on a long answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    server.endpoint.timeoutMs = 600;
    const answered = new Promise<ServerResponse>((resolve) => {
      server.answer = resolve;
    });
    const brain = createOpenAiBrain({
      endpoint: server.endpoint,
      model: undefined,
      limits: openAiLimits,
      log: logs.log,
    });
    const steps = brain.reply(request, signal)[Symbol.asyncIterator]();
    let next = steps.next();
    const response = await answered;
    for (let index = 0; index < 5; index++) {
      response.write(completion([{ content: `Sentence ${index}. ` }]).replace("data: [DONE]\n\n", ""));
      expect((await next).value).toEqual({ type: "say", text: `Sentence ${index}.` });
      next = steps.next();
      vi.advanceTimersByTime(500);
    }
    vi.advanceTimersByTime(100);
    expect((await next).value).toEqual({ type: "say", text: APOLOGY });
    expect(logs.text()).toContain("silent for too long");
  });

  test("an interrupted reply ends at once and apologises for nothing", async () => {
    const over = new AbortController();
    server.answer = (response) => void response.write("data: ");
    const brain = createOpenAiBrain({
      endpoint: server.endpoint,
      model: undefined,
      limits: openAiLimits,
      log: logs.log,
    });
    const next = brain.reply(request, over.signal)[Symbol.asyncIterator]().next();
    over.abort();
    expect((await next).done).toBe(true);
    expect(logs.lines).toEqual([]);
  });
});

test("the session's time limit exceeds that of each server", () => {
  const endpoint = { baseUrl: "http://127.0.0.1:1/v1", key: undefined, timeoutMs: 120_000 };
  const { log } = captureLog();
  const waits = [
    createOpenAiBrain({ endpoint, model: undefined, limits: openAiLimits, log }).stepTimeoutMs,
    createOpenAiRecognition(endpoint, "m", log).timeoutMs,
    createOpenAiSynthesis({ endpoint, model: "m", response_format: "pcm", log }).timeoutMs,
  ];
  for (const wait of waits) expect(wait).toBeGreaterThan(endpoint.timeoutMs);
});

describe("sentences", () => {
  test("are cut at their ends and where the model flushes, numbers and long text included", () => {
    const cutter = createSentenceCutter();
    expect(cutter.push("It is 3.5 percent. And")).toEqual(["It is 3.5 percent."]);
    expect(cutter.push(" then?  ")).toEqual(["And then?"]);
    expect(cutter.push("Yes.")).toEqual([]);
    expect(cutter.flush()).toEqual(["Yes."]);
    expect(cutter.flush()).toEqual([]);
    expect(cutter.push("One moment <flu")).toEqual([]);
    expect(cutter.push("sh /> I look <FLUSH>that </ flush > up")).toEqual(["One moment", "I look", "that"]);
    expect(cutter.flush()).toEqual(["up"]);
    const long = createSentenceCutter().push("word ".repeat(200));
    expect(long.length).toBeGreaterThan(1);
    for (const piece of long) expect(piece.length).toBeLessThanOrEqual(400);
  });
});

describe("recognition", () => {
  const speech = Int16Array.from({ length: 1600 }, (_, at) => at * 10);

  test("sends a turn as a WAV file and answers its text", async () => {
    server.answer = (response) => void response.end('{"text":" Hello there. "}');
    const recognition = createOpenAiRecognition(server.endpoint, "whisper-1", logs.log);
    expect(await recognition.transcribe(speech, "en-US", signal)).toEqual({ text: "Hello there." });
    const [asked] = server.requests;
    const form = await new Response(new Uint8Array(asked?.body ?? []), {
      headers: { "content-type": asked?.headers["content-type"] ?? "" },
    }).formData();
    expect(form.get("model")).toBe("whisper-1");
    expect(form.get("language")).toBe("en");
    const file = form.get("file");
    if (!(file instanceof Blob)) throw new Error("no file was sent");
    const wav = new wavefile.WaveFile(new Uint8Array(await file.arrayBuffer()));
    expect(wav.fmt).toMatchObject({ sampleRate: 16_000, numChannels: 1, bitsPerSample: 16 });
    expect(wav.getSamples(false, Int16Array)).toEqual(speech);
  });

  test("a text of several lines, as whisper.cpp answers a longer turn, is one utterance", async () => {
    server.answer = (response) =>
      void response.end('{"text":" What is the status of incident\\n one thousand and forty one?\\n"}');
    const recognition = createOpenAiRecognition(server.endpoint, "whisper-1", logs.log);
    expect(await recognition.transcribe(speech, "en-US", signal)).toEqual({
      text: "What is the status of incident one thousand and forty one?",
    });
  });

  test.each([
    ['{"text":"  "}', 200],
    ["not json", 200],
    ['{"words":[]}', 200],
    ["{}", 500],
  ])("hears nothing in %s with status %d", async (body, status) => {
    server.answer = (response) => void response.writeHead(status).end(body);
    const recognition = createOpenAiRecognition(server.endpoint, "whisper-1", logs.log);
    expect(await recognition.transcribe(speech, "en", signal)).toEqual({ text: null });
  });

  test("times out on a silent server", async () => {
    server.endpoint.timeoutMs = 50;
    server.answer = () => undefined;
    const recognition = createOpenAiRecognition(server.endpoint, "whisper-1", logs.log);
    expect(await recognition.transcribe(speech, "en", signal)).toEqual({ text: null });
    expect(logs.text()).toContain("silent for too long");
  });
});

describe("synthesis", () => {
  const second = Int16Array.from(
    { length: 24_000 },
    (_, at) => 8000 * Math.sin((2 * Math.PI * 400 * at) / 24_000),
  );
  const options = () => ({ endpoint: server.endpoint, model: "tts-1", log: logs.log });
  const voice = { provider: "openai", voiceId: "alloy" };

  test("turns 24 kHz PCM into the runtime's rate, an odd last byte included", async () => {
    server.answer = (response) =>
      void response.end(Buffer.concat([Buffer.from(second.buffer), Buffer.of(1)]));
    const synthesis = createOpenAiSynthesis({ ...options(), response_format: "pcm" });
    const audio = await synthesis.speak("Hello.", voice, signal);
    expect(audio.length).toBe(16_000);
    expect(Math.max(...audio)).toBeGreaterThan(7000);
    expect(JSON.parse(server.requests[0]?.body.toString() ?? "")).toEqual({
      model: "tts-1",
      voice: "alloy",
      input: "Hello.",
      response_format: "pcm",
    });
  });

  test("reads a WAV file at its own rate, and asks for the configured voice", async () => {
    const wav = new wavefile.WaveFile();
    wav.fromScratch(
      1,
      8_000,
      "16",
      second.filter((_, at) => at % 3 === 0),
    );
    server.answer = (response) => void response.end(wav.toBuffer());
    const synthesis = createOpenAiSynthesis({ ...options(), response_format: "wav", voice: "nova" });
    expect((await synthesis.speak("Hello.", voice, signal)).length).toBe(16_000);
    expect(JSON.parse(server.requests[0]?.body.toString() ?? "").voice).toBe("nova");
  });

  test("a server that fails leaves silence and a log line", async () => {
    server.answer = (response) => void response.end("RIFF but not really");
    const synthesis = createOpenAiSynthesis({ ...options(), response_format: "wav" });
    expect(await synthesis.speak("Hello.", voice, signal)).toEqual(new Int16Array(0));
    server.answer = (response) => void response.writeHead(500).end();
    expect(await synthesis.speak("Hello.", voice, signal)).toEqual(new Int16Array(0));
    expect(logs.text()).toContain("500");
  });
});

const noVariables = () => undefined;

test("the error names a configured key that is not in the environment", () => {
  const config = { base_url: "http://127.0.0.1:1/v1/", timeout_seconds: 1 };
  expect(() => openAiEndpoint({ ...config, api_key_env: "NO_SUCH_KEY_SET" }, noVariables)).toThrow(
    /NO_SUCH_KEY_SET/,
  );
  expect(openAiEndpoint(config, noVariables)).toEqual({
    baseUrl: "http://127.0.0.1:1/v1",
    key: undefined,
    timeoutMs: 1000,
  });
});
