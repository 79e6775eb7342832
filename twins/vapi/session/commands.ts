/** Parses the commands that a client sends on the call socket or posts to the control URL. */
import { z } from "zod";
import type { SessionCommand } from "./contract.ts";

const text = z.string().max(100_000);

const toolCall = z.object({
  id: z.string(),
  function: z.object({
    name: z.string(),
    arguments: z.union([z.record(z.string(), z.unknown()), z.string().transform(parseArguments)]),
  }),
});

/** OpenAI's chat message, reduced to what a conversation holds. */
const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: text }),
  z.object({ role: z.literal("user"), content: text }),
  z
    .object({
      role: z.literal("assistant"),
      content: text.nullish(),
      tool_calls: z.array(toolCall).max(64).optional(),
    })
    .transform(({ role, content, tool_calls }) => ({
      role,
      content: content ?? "",
      ...(tool_calls && {
        toolCalls: tool_calls.map((call) => ({
          id: call.id,
          name: call.function.name,
          arguments: call.function.arguments,
        })),
      }),
    })),
  z
    .object({
      role: z.literal("tool"),
      content: text,
      tool_call_id: z.string(),
      name: z.string().default(""),
    })
    .transform(({ role, content, tool_call_id, name }) => ({
      role,
      content,
      toolCallId: tool_call_id,
      name,
    })),
]);

const command = z.discriminatedUnion("type", [
  z.object({ type: z.literal("end-call") }),
  z.object({ type: z.literal("hangup") }),
  z.object({
    type: z.literal("say"),
    content: text.min(1),
    endCallAfterSpoken: z.boolean().default(false),
    interruptAssistantEnabled: z.boolean().default(false),
    interruptionsEnabled: z.boolean().default(true),
  }),
  z.object({ type: z.literal("add-message"), message, triggerResponseEnabled: z.boolean().default(true) }),
  z.object({
    type: z.literal("control"),
    control: z.enum([
      "mute-assistant",
      "unmute-assistant",
      "mute-customer",
      "unmute-customer",
      "say-first-message",
    ]),
  }),
]);

const COMMAND_TYPES = new Set<string>(command.options.map((option) => option.shape.type.value));

export type ParsedCommand =
  | { type: "command"; command: SessionCommand }
  /** A command the twin does not serve, such as a transfer. */
  | { type: "not-served"; name: string }
  /** `problem` says what was wrong and where. */
  | { type: "invalid"; problem: string };

/** Parses one JSON value. Shapes: https://docs.vapi.ai/calls/call-features */
export function parseCommand(value: unknown): ParsedCommand {
  const envelope = z.object({ type: z.string().max(100) }).safeParse(value);
  if (!envelope.success)
    return { type: "invalid", problem: "a command is a JSON object with a string `type`" };
  if (!COMMAND_TYPES.has(envelope.data.type)) return { type: "not-served", name: envelope.data.type };
  const parsed = command.safeParse(value);
  if (parsed.success) return { type: "command", command: parsed.data };
  return { type: "invalid", problem: `${envelope.data.type}: ${z.prettifyError(parsed.error)}` };
}

function parseArguments(json: string, context: z.RefinementCtx): Record<string, unknown> {
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(json));
    if (parsed.success) return parsed.data;
  } catch {
    // Reported below.
  }
  context.addIssue("arguments: a JSON object, or a string holding one");
  return z.NEVER;
}
