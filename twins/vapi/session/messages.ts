/**
 * The runtime's messages as they stand on the call socket: flat JSON objects with a `type`.
 * Shapes: the vendor's `ClientMessage…` types and recorded calls, https://docs.vapi.ai/calls/websocket-transport
 */
import { NO_RESULT } from "../providers/openai-message.ts";
import type { ConversationMessage, ToolCall, ToolDeclaration } from "../providers/provider.ts";
import type { CallAssistant, ToolOutcome } from "./contract.ts";

export type Role = "user" | "assistant";

interface FunctionCall {
  id: string;
  type: "function";
  function: { name: string; arguments: Record<string, unknown> };
}

/** A message of the conversation in OpenAI's chat format. */
type ChatMessage =
  | { role: "system" | "user"; content: string }
  | {
      role: "assistant";
      content: string;
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

export type RuntimeMessage =
  | { type: "status-update"; status: "in-progress" }
  | { type: "status-update"; status: "ended"; endedReason: string }
  | { type: "assistant.started"; newAssistant: Record<string, unknown> }
  | { type: "assistant.speechStarted"; text: string; turn: number; source: "model" | "force-say" }
  | { type: "speech-update"; status: "started" | "stopped"; role: Role; turn: number }
  | {
      type: "transcript";
      role: Role;
      transcriptType: "partial" | "final";
      transcript: string;
      assistantId?: string;
      assistantName?: string;
    }
  | { type: "conversation-update"; conversation: ChatMessage[] }
  | { type: "model-output"; output: string; turnId: string }
  | { type: "voice-input"; input: string; turn: number }
  | { type: "user-interrupted"; turnId?: string }
  | { type: "hang" }
  | {
      type: "tool-calls";
      toolCallList: FunctionCall[];
      toolWithToolCallList: { type: "function"; function: ToolDeclaration; toolCall: FunctionCall }[];
    }
  | { type: "tool-calls-result"; toolCallResult: { toolCallId: string; name: string; result: string } }
  | { type: "tool.completed"; toolCall: FunctionCall; result: string };

export function conversationUpdate(conversation: readonly ConversationMessage[]): RuntimeMessage {
  return { type: "conversation-update", conversation: conversation.map(chatMessage) };
}

export function assistantStarted(assistant: CallAssistant): RuntimeMessage {
  const { id, name, firstMessage, firstMessageMode, model, voice, transcriber } = assistant;
  return {
    type: "assistant.started",
    newAssistant: {
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      ...(firstMessage !== undefined && { firstMessage }),
      firstMessageMode,
      model: { provider: model.provider, model: model.model },
      voice,
      transcriber,
    },
  };
}

export function transcript(
  assistant: CallAssistant,
  said: { role: Role; transcriptType: "partial" | "final"; transcript: string },
): RuntimeMessage {
  if (said.role === "user") return { type: "transcript", ...said };
  const { id, name } = assistant;
  return {
    type: "transcript",
    ...said,
    ...(id !== undefined && { assistantId: id }),
    ...(name !== undefined && { assistantName: name }),
  };
}

export function toolCalls(calls: readonly ToolCall[], declared: readonly ToolDeclaration[]): RuntimeMessage {
  return {
    type: "tool-calls",
    toolCallList: calls.map(functionCall),
    toolWithToolCallList: calls.flatMap((call) => {
      const tool = declared.find(({ name }) => name === call.name);
      return tool ? [{ type: "function" as const, function: tool, toolCall: functionCall(call) }] : [];
    }),
  };
}

/** The messages that follow the end of one tool call. */
export function toolResult({ call, content }: ToolOutcome): RuntimeMessage[] {
  const result = content ?? NO_RESULT;
  return [
    { type: "tool-calls-result", toolCallResult: { toolCallId: call.id, name: call.name, result } },
    { type: "tool.completed", toolCall: functionCall(call), result },
  ];
}

function functionCall(call: ToolCall): FunctionCall {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function chatMessage(message: ConversationMessage): ChatMessage {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content };
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content ?? NO_RESULT };
    case "assistant":
      return {
        role: "assistant",
        content: message.content,
        ...(message.toolCalls && {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.id,
            type: "function" as const,
            function: { name: call.name, arguments: JSON.stringify(call.arguments) },
          })),
        }),
      };
  }
}
