/** Conversation messages in OpenAI's format, for models and webhooks. */
import type { ConversationMessage } from "./provider.ts";

/** The result a model gets when a tool gave no usable answer. Source: https://docs.vapi.ai/tools/custom-tools-troubleshooting */
export const NO_RESULT = "No result returned.";

export function openAiMessage(message: ConversationMessage): object {
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.toolCallId, content: message.content ?? NO_RESULT };
  }
  if (message.role !== "assistant" || !message.toolCalls?.length) {
    return { role: message.role, content: message.content };
  }
  return {
    role: "assistant",
    content: message.content || null,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  };
}
