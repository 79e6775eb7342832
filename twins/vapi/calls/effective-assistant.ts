/**
 * The assistant that a call runs: inline or stored, with the call's overrides, its variables, and the vendor's defaults
 * for what a live call needs.
 * Source: https://docs.vapi.ai/assistants/dynamic-variables; CreateAssistantDto of @vapi-ai/server-sdk.
 */

import type { ConversationMessage, ToolDeclaration } from "../providers/provider.ts";
import { lookUp, parseTemplate, TemplateError, toSpeech } from "../providers/template.ts";
import { type Assistant, type AssistantOverrides, assistantSchema } from "../schema/assistant.ts";
import { DEFAULT_CLIENT_MESSAGES } from "../schema/message-types.ts";
import { type Tool, toolName } from "../schema/model.ts";
import type { CallAssistant } from "../session/contract.ts";

/** Phrases that never interrupt the assistant, unless the stop-speaking plan names its own. */
const ACKNOWLEDGEMENTS = [
  "i understand",
  "i see",
  "i got it",
  "i hear you",
  "im listening",
  "im with you",
  "right",
  "okay",
  "ok",
  "sure",
  "alright",
  "got it",
  "understood",
  "yeah",
  "yes",
  "uh-huh",
  "mm-hmm",
  "gotcha",
  "mhmm",
  "ah",
  "yeah okay",
  "yeah sure",
];
/** Phrases that always interrupt it, unless the stop-speaking plan names its own. */
const INTERRUPTIONS = [
  "stop",
  "shut",
  "up",
  "enough",
  "quiet",
  "silence",
  "but",
  "dont",
  "not",
  "no",
  "hold",
  "wait",
  "cut",
  "pause",
  "nope",
  "nah",
  "nevermind",
  "never",
  "bad",
  "actually",
];

/** Merges a call's overrides into its assistant: objects member by member; everything else is replaced. */
export function withOverrides(
  assistant: Assistant,
  overrides: AssistantOverrides | null | undefined,
): Assistant {
  if (overrides === null || overrides === undefined) return assistant;
  const { variableValues, "tools:append": appended, ...changes } = overrides;
  const merged = assistantSchema.parse(merge(assistant, changes));
  const model = merged.model;
  if (model && appended) merged.model = { ...model, tools: [...(model.tools ?? []), ...appended] };
  return variableValues ? fillVariables(merged, variableValues) : merged;
}

function merge(base: unknown, change: unknown): unknown {
  if (!isObject(base) || !isObject(change)) return change;
  const members = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(change)) {
    if (value !== undefined) members.set(name, merge(members.get(name), value));
  }
  return Object.fromEntries(members);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Fills `{{name}}` in spoken messages and the prompt; a name without a value becomes empty, as in the vendor's Liquid. */
function fillVariables(assistant: Assistant, variables: Record<string, unknown>): Assistant {
  const fill = (text: string) => fillText(text, variables);
  const { model } = assistant;
  return {
    ...assistant,
    ...(assistant.firstMessage ? { firstMessage: fill(assistant.firstMessage) } : {}),
    ...(assistant.endCallMessage ? { endCallMessage: fill(assistant.endCallMessage) } : {}),
    ...(model?.messages
      ? {
          model: {
            ...model,
            messages: model.messages.map((message) =>
              typeof message.content === "string" ? { ...message, content: fill(message.content) } : message,
            ),
          },
        }
      : {}),
  };
}

function fillText(text: string, variables: Record<string, unknown>): string {
  try {
    return parseTemplate(text)
      .map((part) => (part.kind === "text" ? part.text : toSpeech(lookUp(variables, part.path) ?? "")))
      .join("");
  } catch (error) {
    if (error instanceof TemplateError) return text;
    throw error;
  }
}

/** The members that steer a live call, with the vendor's defaults. */
export function callAssistant(assistant: Assistant, id: string | undefined): CallAssistant {
  const start = assistant.startSpeakingPlan;
  const stop = assistant.stopSpeakingPlan;
  return {
    ...(id === undefined ? {} : { id }),
    ...(assistant.name ? { name: assistant.name } : {}),
    ...(assistant.firstMessage ? { firstMessage: assistant.firstMessage } : {}),
    firstMessageMode: assistant.firstMessageMode ?? "assistant-speaks-first",
    firstMessageInterruptionsEnabled: assistant.firstMessageInterruptionsEnabled ?? false,
    model: {
      provider: assistant.model?.provider ?? "openai",
      model: assistant.model?.model ?? "gpt-4.1-mini",
      temperature: assistant.model?.temperature ?? 0.5,
      maxTokens: assistant.model?.maxTokens ?? 250,
      messages: promptMessages(assistant),
      tools: (assistant.model?.tools ?? []).flatMap(declaration),
    },
    voice: {
      provider: assistant.voice?.provider ?? "vapi",
      voiceId: assistant.voice?.voiceId ?? "Elliot",
    },
    transcriber: {
      provider: assistant.transcriber?.provider ?? "deepgram",
      model: assistant.transcriber?.model ?? "nova-2",
      language: assistant.transcriber?.language ?? "en",
    },
    startSpeakingPlan: {
      waitSeconds: start?.waitSeconds ?? 0.4,
      transcriptionEndpointingPlan: {
        onPunctuationSeconds: start?.transcriptionEndpointingPlan?.onPunctuationSeconds ?? 0.1,
        onNoPunctuationSeconds: start?.transcriptionEndpointingPlan?.onNoPunctuationSeconds ?? 1.5,
        onNumberSeconds: start?.transcriptionEndpointingPlan?.onNumberSeconds ?? 0.5,
      },
    },
    stopSpeakingPlan: {
      numWords: stop?.numWords ?? 0,
      voiceSeconds: stop?.voiceSeconds ?? 0.2,
      backoffSeconds: stop?.backoffSeconds ?? 1,
      acknowledgementPhrases: stop?.acknowledgementPhrases ?? ACKNOWLEDGEMENTS,
      interruptionPhrases: stop?.interruptionPhrases ?? INTERRUPTIONS,
    },
    silenceTimeoutSeconds: assistant.silenceTimeoutSeconds ?? 30,
    maxDurationSeconds: assistant.maxDurationSeconds ?? 600,
    ...(assistant.endCallMessage ? { endCallMessage: assistant.endCallMessage } : {}),
    endCallPhrases: assistant.endCallPhrases ?? [],
    clientMessages: [...(assistant.clientMessages ?? DEFAULT_CLIENT_MESSAGES)],
  };
}

function declaration(tool: Tool): ToolDeclaration[] {
  if (tool.type !== "function" && tool.type !== "endCall") return [];
  return [
    {
      name: toolName(tool),
      description: tool.function?.description ?? "",
      parameters: tool.function?.parameters ?? { type: "object", properties: {} },
    },
  ];
}

function promptMessages(assistant: Assistant): ConversationMessage[] {
  return (assistant.model?.messages ?? []).flatMap((message): ConversationMessage[] => {
    const content = message.content ?? "";
    if (message.role === "user" || message.role === "assistant") return [{ role: message.role, content }];
    return message.role === "system" || message.role === "developer" ? [{ role: "system", content }] : [];
  });
}
