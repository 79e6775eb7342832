/**
 * The model, voice and transcriber of an assistant. The model's members are validated against the union of all
 * providers; voices and transcribers differ too much by provider, so only their common members are validated.
 * Source: CreateAssistantDto{Model,Voice,Transcriber} of @vapi-ai/server-sdk.
 */
import { z } from "zod";
import { bounded, optional } from "./fields.ts";
import { outboundUrl, serverSchema } from "./server.ts";

const MODEL_PROVIDERS = [
  "anthropic",
  "anthropic-bedrock",
  "anyscale",
  "cerebras",
  "custom-llm",
  "deepinfra",
  "deep-seek",
  "google",
  "groq",
  "inflection-ai",
  "minimax",
  "openai",
  "openrouter",
  "perplexity-ai",
  "together-ai",
  "xai",
  "vapi",
] as const;

const VOICE_PROVIDERS = [
  "azure",
  "cartesia",
  "custom-voice",
  "deepgram",
  "11labs",
  "hume",
  "lmnt",
  "neuphonic",
  "openai",
  "playht",
  "wellsaid",
  "rime-ai",
  "smallest-ai",
  "tavus",
  "vapi",
  "sesame",
  "inworld",
  "minimax",
  "xai",
  "microsoft",
] as const;

const TRANSCRIBER_PROVIDERS = [
  "assembly-ai",
  "azure",
  "custom-transcriber",
  "deepgram",
  "11labs",
  "gladia",
  "google",
  "speechmatics",
  "talkscriber",
  "openai",
  "cartesia",
  "soniox",
  "xai",
  "vapi",
] as const;

/** Tool types besides `function`; the twin accepts all of them and runs only `endCall`. */
const OTHER_TOOLS = [
  "apiRequest",
  "bash",
  "code",
  "computer",
  "dtmf",
  "endCall",
  "gohighlevel.calendar.availability.check",
  "gohighlevel.calendar.event.create",
  "gohighlevel.contact.create",
  "gohighlevel.contact.get",
  "google.calendar.availability.check",
  "google.calendar.event.create",
  "google.sheets.row.append",
  "handoff",
  "mcp",
  "query",
  "sipRequest",
  "slack.message.send",
  "sms",
  "textEditor",
  "transferCall",
  "voicemail",
] as const;

const functionSchema = z.strictObject({
  name: z
    .string()
    .max(64)
    .regex(/^[A-Za-z0-9_-]+$/),
  strict: optional(z.boolean()),
  description: optional(z.string().max(1000)),
  parameters: optional(z.looseObject({ type: z.literal("object") })),
});

const functionToolSchema = z.strictObject({
  type: z.literal("function"),
  async: optional(z.boolean()),
  function: functionSchema,
  server: optional(serverSchema),
  messages: optional(z.array(z.looseObject({ type: z.string() }))),
  parameters: optional(z.array(z.unknown())),
  variableExtractionPlan: optional(z.looseObject({})),
  rejectionPlan: optional(z.looseObject({})),
});

const otherToolSchema = z.looseObject({
  type: z.enum(OTHER_TOOLS),
  function: optional(functionSchema),
  server: optional(serverSchema),
});

export const toolSchema = z.discriminatedUnion("type", [functionToolSchema, otherToolSchema]);
export type Tool = z.output<typeof toolSchema>;

/** The name a model calls a tool by. */
export function toolName(tool: Tool): string {
  return tool.function?.name ?? tool.type;
}

const messageSchema = z.looseObject({
  role: z.enum(["assistant", "function", "user", "system", "tool", "developer"]),
  content: optional(z.string()),
});

export const modelSchema = z
  .strictObject({
    provider: z.enum(MODEL_PROVIDERS),
    model: optional(z.string()),
    messages: optional(z.array(messageSchema)),
    tools: optional(z.array(toolSchema)),
    toolIds: optional(z.array(z.string())),
    toolRefs: optional(z.array(z.looseObject({}))),
    knowledgeBase: optional(z.looseObject({})),
    temperature: optional(bounded(0, 2)),
    maxTokens: optional(bounded(50, 10_000)),
    emotionRecognitionEnabled: optional(z.boolean()),
    numFastTurns: optional(z.number().min(0)),
    fallbackModels: optional(z.array(z.string())),
    toolStrictCompatibilityMode: optional(z.string()),
    promptCacheRetention: optional(z.string()),
    promptCacheKey: optional(z.string()),
    reasoningEffort: optional(z.string()),
    thinking: optional(z.looseObject({})),
    realtimeConfig: optional(z.looseObject({})),
    url: optional(z.string()),
    headers: optional(z.record(z.string(), z.string())),
    metadataSendMode: optional(z.enum(["off", "variable", "destructured"])),
    timeoutSeconds: optional(bounded(0, 300)),
    wordLevelConfidenceEnabled: optional(z.boolean()),
    version: optional(z.union([z.string(), z.number()])),
    workflow: optional(z.looseObject({})),
    workflowId: optional(z.string()),
  })
  .superRefine(({ provider, model, url }, context) => {
    if (provider !== "custom-llm") return;
    if (!outboundUrl.safeParse(url).success)
      context.addIssue({ code: "custom", path: ["url"], message: "must be a URL address" });
    if (!model) context.addIssue({ code: "custom", path: ["model"], message: "must be a string" });
  });

export const voiceSchema = z.looseObject({
  provider: z.enum(VOICE_PROVIDERS),
  voiceId: optional(z.string()),
});

export const transcriberSchema = z.looseObject({
  provider: z.enum(TRANSCRIBER_PROVIDERS),
  model: optional(z.string()),
  language: optional(z.string()),
});
