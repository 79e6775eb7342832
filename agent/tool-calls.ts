/**
 * Reads the body of a tool webhook. Accepts every shape of a call that the runtime sends or documents; a malformed call
 * does not affect the others, because the answer has an entry for each.
 * https://docs.vapi.ai/tools/custom-tools
 */
import { z } from "zod";

/** One call of the model. */
export interface RequestedCall {
  /** Empty when the runtime sent none. */
  id: string;
  name: string;
  /** As they came: an object, or text that is not JSON. */
  arguments: unknown;
}

export interface ToolCallsMessage {
  calls: RequestedCall[];
  /** The runtime's id of the phone call. */
  runtimeCallId: string | undefined;
}

const bodySchema = z.object({
  message: z.looseObject({
    toolCallList: z.array(z.unknown()),
    call: z.looseObject({ id: z.string() }).optional().catch(undefined),
  }),
});

const text = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const itemSchema = z
  .looseObject({
    id: text,
    toolCallId: text,
    name: text,
    function: z.looseObject({ name: text }).optional().catch(undefined),
  })
  .catch({ id: undefined, toolCallId: undefined, name: undefined, function: undefined });

/** @returns the calls in their order, or why the body has none */
export function readToolCalls(body: Buffer): ToolCallsMessage | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    return { problem: "the body is not JSON" };
  }
  const parsed = bodySchema.safeParse(json);
  if (!parsed.success) return { problem: "the body has no message.toolCallList" };
  const { toolCallList, call } = parsed.data.message;
  return { calls: toolCallList.map(readItem), runtimeCallId: call?.id };
}

function readItem(item: unknown): RequestedCall {
  const fields = itemSchema.parse(item);
  const given = fields.function?.arguments ?? fields.arguments ?? fields.parameters ?? {};
  return {
    id: fields.id ?? fields.toolCallId ?? "",
    name: fields.function?.name ?? fields.name ?? "",
    arguments: typeof given === "string" ? parseIfJson(given) : given,
  };
}

function parseIfJson(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
