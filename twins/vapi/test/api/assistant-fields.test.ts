import { type Vapi, VapiClient } from "@vapi-ai/server-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "../../api/whitelist.ts";
import { assistantOverridesSchema, assistantSchema } from "../../schema/assistant.ts";
import { KEY, playedSessions, startVoiceRuntime, type VoiceRuntime } from "../../testing/voice-runtime.ts";

let runtime: VoiceRuntime;
beforeAll(async () => {
  runtime = await startVoiceRuntime({ createSession: playedSessions().createSession });
});
afterAll(() => runtime.stop());

/** Every member the vendor's client knows; the compiler asks for a new one when the client gains it. */
const whole: Required<Vapi.CreateAssistantDto> = {
  name: "Hotline",
  transcriber: { provider: "deepgram", model: "nova-3", language: "en" },
  model: {
    provider: "openai",
    model: "gpt-4.1",
    temperature: 0.5,
    maxTokens: 250,
    emotionRecognitionEnabled: false,
    numFastTurns: 1,
    toolIds: ["5b0a4a08-133c-4146-9315-0984f8c6be80"],
    messages: [{ role: "system", content: "Be brief." }],
    tools: [
      {
        type: "function",
        async: false,
        function: {
          name: "one",
          description: "Does one thing.",
          strict: true,
          parameters: { type: "object", properties: {} },
        },
        server: {
          url: "https://example.com/tool",
          timeoutSeconds: 20,
          headers: { "x-key": "a" },
          credentialId: "c",
          staticIpAddressesEnabled: false,
          encryptedPaths: [],
        },
        messages: [{ type: "request-start", content: "One moment." }],
      },
      { type: "endCall" },
      { type: "transferCall", destinations: [{ type: "number", number: "+15551234567" }] },
    ],
  },
  voice: { provider: "11labs", voiceId: "EXAVITQu4vr4xnSDxMaL", model: "eleven_flash_v2" },
  firstMessage: "Hello.",
  firstMessageInterruptionsEnabled: true,
  firstMessageMode: "assistant-speaks-first-with-model-generated-message",
  voicemailDetection: "off",
  clientMessages: ["transcript", "tool-calls-result", "workflow.node.started"],
  serverMessages: ["end-of-call-report", 'transcript[transcriptType="final"]', "call.artifact.upload"],
  maxDurationSeconds: 43_200,
  backgroundSound: "office",
  modelOutputInMessagesEnabled: true,
  transportConfigurations: [{ provider: "twilio", timeout: 60, record: false }],
  observabilityPlan: { provider: "langfuse", tags: ["a"] },
  credentials: [{ provider: "openai", apiKey: "hush" }],
  hooks: [{ on: "call.ending", do: [{ type: "tool", toolId: "t" }] }],
  voicemailMessage: "Please call back.",
  endCallMessage: "Goodbye.",
  endCallPhrases: ["goodbye"],
  compliancePlan: { hipaaEnabled: false },
  metadata: { simulationId: "sim-1", deep: { list: [1, null] } },
  backgroundSpeechDenoisingPlan: { smartDenoisingPlan: { enabled: false } },
  analysisPlan: { minMessagesThreshold: 2 },
  artifactPlan: { recordingEnabled: false, recordingFormat: "wav;l16", transcriptPlan: { enabled: true } },
  startSpeakingPlan: {
    waitSeconds: 0.4,
    smartEndpointingPlan: { provider: "livekit" },
    transcriptionEndpointingPlan: {
      onPunctuationSeconds: 0.1,
      onNoPunctuationSeconds: 1.5,
      onNumberSeconds: 0.5,
    },
  },
  stopSpeakingPlan: {
    numWords: 2,
    voiceSeconds: 0.2,
    backoffSeconds: 1,
    acknowledgementPhrases: ["ok"],
    interruptionPhrases: ["stop"],
  },
  monitorPlan: { listenEnabled: true, controlEnabled: true, monitorIds: [] },
  credentialIds: ["c"],
  server: { url: "https://example.com/server" },
  keypadInputPlan: { enabled: true, timeoutSeconds: 2, delimiters: "#" },
};

describe("an assistant", () => {
  test("with every member the vendor's client knows is taken and answered back", async () => {
    const client = new VapiClient({ token: KEY, environment: runtime.url });
    const stored = await client.assistants.create(whole);
    expect(await client.assistants.get({ id: stored.id })).toMatchObject(JSON.parse(JSON.stringify(whole)));
  });

  test("may be overridden in every one of these members", () => {
    const overrides: Vapi.AssistantOverrides = {
      ...whole,
      variableValues: { a: 1 },
      "tools:append": [{ type: "endCall" }],
    };
    expect(check(assistantOverridesSchema, overrides)).toMatchObject({ ok: true });
  });

  test("accepts null for every optional member, as the vendor does", () => {
    const nulls = Object.fromEntries(Object.keys(whole).map((name) => [name, null]));
    expect(check(assistantSchema, nulls)).toMatchObject({ ok: true });
  });

  test.each([
    [{ firstMessage: 1 }, "firstMessage must be a string"],
    [
      { maxDurationSeconds: "60" },
      "maxDurationSeconds must be a number conforming to the specified constraints",
    ],
    [{ firstMessageInterruptionsEnabled: "no" }, "firstMessageInterruptionsEnabled must be a boolean value"],
    [{ endCallPhrases: "bye" }, "endCallPhrases must be an array"],
    [{ endCallPhrases: ["bye", 2] }, "each value in endCallPhrases must be a string"],
    [{ startSpeakingPlan: { waitSeconds: 6 } }, "startSpeakingPlan.waitSeconds must not be greater than 5"],
    [{ stopSpeakingPlan: 1 }, "stopSpeakingPlan must be an object"],
    [{ name: "x".repeat(41) }, "name must be shorter than or equal to 40 characters"],
    [{ server: { url: "ftp://example.com" } }, "server.url must be a URL address"],
    [
      { model: { provider: "openai", tools: [{ type: "function", function: { name: "a b" } }] } },
      "model.tools.0.function.name must match /^[A-Za-z0-9_-]+$/ regular expression",
    ],
    [{ clientMessages: ["nonsense"] }, /^each value in clientMessages must be one of the following values: /],
    [
      { voice: { provider: "parrot" } },
      /^voice.provider must be one of the following values: azure, cartesia, /,
    ],
  ])("%j is refused in class-validator's words", (members, sentence) => {
    const checked = check(assistantSchema, members);
    expect(checked).toEqual({
      ok: false,
      messages: [typeof sentence === "string" ? sentence : expect.stringMatching(sentence)],
    });
  });
});
