/** The events that can be reported to a simulation. */
import { z } from "zod";

/** The event type of a tool call; the trace recognises tool calls by it. */
export const TOOL_CALL = "agent_tool_call";

export const toolCall = z.strictObject({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()),
  /** Required; any JSON value, including `null`. */
  result: z.unknown().refine((result) => result !== undefined, "is required (any JSON value)"),
});

/** Body of `POST /simulations/{id}/events`. A tool call needs the members that the trace shows. */
export const eventBody = z
  .strictObject({
    service: z.string().min(1),
    event_type: z.string().min(1),
    data: z.record(z.string(), z.unknown()),
  })
  .superRefine((event, context) => {
    if (event.event_type !== TOOL_CALL) return;
    const reading = toolCall.safeParse(event.data);
    for (const issue of reading.error?.issues ?? []) {
      context.addIssue({ code: "custom", message: issue.message, path: ["data", ...issue.path] });
    }
  });
