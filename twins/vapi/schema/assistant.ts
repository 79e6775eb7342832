/**
 * An assistant as `POST /assistant` and the inline `assistant` of `POST /call` take it, and the overrides of a call.
 * Every member of the vendor's CreateAssistantDTO is accepted; unknown members are refused.
 * Source: CreateAssistantDto and AssistantOverrides of @vapi-ai/server-sdk; https://docs.vapi.ai/calls/call-timeout-settings
 */
import { z } from "zod";
import { bounded, optional } from "./fields.ts";
import { CLIENT_MESSAGES, SERVER_MESSAGES } from "./message-types.ts";
import { modelSchema, toolSchema, transcriberSchema, voiceSchema } from "./model.ts";
import { serverSchema } from "./server.ts";

const startSpeakingPlan = z.strictObject({
  waitSeconds: optional(bounded(0, 5)),
  smartEndpointingEnabled: optional(z.union([z.boolean(), z.literal("livekit")])),
  smartEndpointingPlan: optional(z.looseObject({ provider: z.string() })),
  customEndpointingRules: optional(z.array(z.looseObject({ type: z.string() }))),
  transcriptionEndpointingPlan: optional(
    z.strictObject({
      onPunctuationSeconds: optional(bounded(0, 3)),
      onNoPunctuationSeconds: optional(bounded(0, 3)),
      onNumberSeconds: optional(bounded(0, 3)),
    }),
  ),
});

const stopSpeakingPlan = z.strictObject({
  numWords: optional(bounded(0, 10)),
  voiceSeconds: optional(bounded(0, 0.5)),
  backoffSeconds: optional(bounded(0, 10)),
  acknowledgementPhrases: optional(z.array(z.string())),
  interruptionPhrases: optional(z.array(z.string())),
});

const monitorPlan = z.strictObject({
  listenEnabled: optional(z.boolean()),
  listenAuthenticationEnabled: optional(z.boolean()),
  controlEnabled: optional(z.boolean()),
  controlAuthenticationEnabled: optional(z.boolean()),
  monitorIds: optional(z.array(z.string())),
});

const artifactPlan = z.strictObject({
  recordingEnabled: optional(z.boolean()),
  recordingFormat: optional(z.enum(["wav;l16", "mp3"])),
  recordingUseCustomStorageEnabled: optional(z.boolean()),
  videoRecordingEnabled: optional(z.boolean()),
  fullMessageHistoryEnabled: optional(z.boolean()),
  pcapEnabled: optional(z.boolean()),
  pcapS3PathPrefix: optional(z.string()),
  pcapUseCustomStorageEnabled: optional(z.boolean()),
  loggingEnabled: optional(z.boolean()),
  loggingUseCustomStorageEnabled: optional(z.boolean()),
  transcriptPlan: optional(z.looseObject({})),
  recordingPath: optional(z.string()),
  structuredOutputIds: optional(z.array(z.string())),
  structuredOutputs: optional(z.array(z.looseObject({}))),
  scorecardIds: optional(z.array(z.string())),
  scorecards: optional(z.array(z.looseObject({}))),
  loggingPath: optional(z.string()),
});

const shared = {
  transcriber: optional(transcriberSchema),
  model: optional(modelSchema),
  voice: optional(voiceSchema),
  firstMessage: optional(z.string()),
  firstMessageInterruptionsEnabled: optional(z.boolean()),
  firstMessageMode: optional(
    z.enum([
      "assistant-speaks-first",
      "assistant-speaks-first-with-model-generated-message",
      "assistant-waits-for-user",
    ]),
  ),
  voicemailDetection: optional(z.union([z.literal("off"), z.looseObject({ provider: z.string() })])),
  clientMessages: optional(z.array(z.enum(CLIENT_MESSAGES))),
  serverMessages: optional(z.array(z.enum(SERVER_MESSAGES))),
  maxDurationSeconds: optional(bounded(10, 43_200)),
  backgroundSound: optional(z.string()),
  modelOutputInMessagesEnabled: optional(z.boolean()),
  transportConfigurations: optional(z.array(z.looseObject({ provider: z.string() }))),
  observabilityPlan: optional(z.looseObject({ provider: z.string() })),
  credentials: optional(z.array(z.looseObject({ provider: z.string() }))),
  hooks: optional(z.array(z.looseObject({ on: z.string() }))),
  name: optional(z.string().max(40)),
  voicemailMessage: optional(z.string().max(1000)),
  endCallMessage: optional(z.string().max(1000)),
  endCallPhrases: optional(z.array(z.string().min(2).max(140))),
  compliancePlan: optional(z.looseObject({})),
  metadata: optional(z.record(z.string(), z.unknown())),
  backgroundSpeechDenoisingPlan: optional(z.looseObject({})),
  analysisPlan: optional(z.looseObject({})),
  artifactPlan: optional(artifactPlan),
  startSpeakingPlan: optional(startSpeakingPlan),
  stopSpeakingPlan: optional(stopSpeakingPlan),
  monitorPlan: optional(monitorPlan),
  credentialIds: optional(z.array(z.string())),
  server: optional(serverSchema),
  keypadInputPlan: optional(z.looseObject({})),
};

/** Gone from the vendor's schema, but still documented or still accepted by the service. */
const legacy = {
  silenceTimeoutSeconds: optional(bounded(10, 3600)),
  backchannelingEnabled: optional(z.boolean()),
  backgroundDenoisingEnabled: optional(z.boolean()),
  serverUrl: optional(z.url({ protocol: /^https?$/ })),
  serverUrlSecret: optional(z.string()),
};

export const assistantSchema = z.strictObject({ ...shared, ...legacy });
export type Assistant = z.output<typeof assistantSchema>;

/** A call's changes to its assistant. `silenceTimeoutSeconds` is refused here, as by the vendor. */
export const assistantOverridesSchema = z.strictObject({
  ...shared,
  "tools:append": optional(z.array(toolSchema)),
  variableValues: optional(z.record(z.string(), z.unknown())),
});
export type AssistantOverrides = z.output<typeof assistantOverridesSchema>;
