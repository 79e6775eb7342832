/**
 * Reads the text messages of the call socket. On the socket they are flat; an envelope `{"message":{…}}` is accepted too.
 * https://docs.vapi.ai/calls/websocket-transport
 */
import { z } from "zod";

const speechUpdate = z.object({
  type: z.literal("speech-update"),
  status: z.string(),
  role: z.string(),
});
const statusUpdate = z.object({
  type: z.literal("status-update"),
  status: z.string(),
  endedReason: z.string().optional(),
});
const transcript = z.object({
  type: z.literal("transcript"),
  role: z.string(),
  transcriptType: z.string().optional(),
  transcript: z.string(),
});
const userInterrupted = z.object({ type: z.literal("user-interrupted") });
const hang = z.object({ type: z.literal("hang") });

const actedOn = z.discriminatedUnion("type", [speechUpdate, statusUpdate, transcript, userInterrupted, hang]);

/** Known messages that need no action. */
const PASSED_OVER = new Set([
  "assistant.speechStarted",
  "assistant.started",
  "conversation-update",
  "end-of-call-report",
  "function-call",
  "function-call-result",
  "language-change-detected",
  "language-changed",
  "metadata",
  "model-output",
  "tool-calls",
  "tool-calls-result",
  "tool.completed",
  "transfer-update",
  "voice-input",
  "workflow.node.started",
]);

const typed = z.looseObject({ type: z.string() });

export type RuntimeMessage =
  | z.output<typeof actedOn>
  | { type: "passed-over" }
  /** `what` names the kind of problem without its content, so that each kind is logged once. */
  | { type: "not-understood"; what: string };

/** Reads one text frame; never throws. */
export function readRuntimeMessage(text: string): RuntimeMessage {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { type: "not-understood", what: "a text frame that is not JSON" };
  }
  const flat = typed.safeParse(json);
  const message = flat.success ? flat : typed.safeParse(envelopeContent(json));
  if (!message.success) return { type: "not-understood", what: "a message without a type" };
  const { type } = message.data;
  if (PASSED_OVER.has(type)) return { type: "passed-over" };
  const known = actedOn.safeParse(message.data);
  if (known.success) return known.data;
  const isKnown = actedOn.options.some((option) => option.shape.type.value === type);
  return {
    type: "not-understood",
    what: isKnown ? `a ${type} message of another shape` : `the unknown type ${type.slice(0, 64)}`,
  };
}

function envelopeContent(json: unknown): unknown {
  return typeof json === "object" && json !== null && "message" in json ? json.message : undefined;
}

/**
 * Whether a call ended because of a failure: the runtime's ended reasons are words joined by `-` and `.`, and those of
 * failures contain the word `error`.
 */
export function isFailure(status: string, endedReason: string | undefined): boolean {
  return status === "failed" || (endedReason?.split(/[-.]/).includes("error") ?? false);
}

/** Statuses after which the runtime has nothing more to say. */
export const FINAL_STATUSES: ReadonlySet<string> = new Set(["ended", "completed", "failed"]);
