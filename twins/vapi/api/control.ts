/** The control URL of a live call; the call id in it is the secret. Source: https://docs.vapi.ai/calls/call-features */
import { parseCommand } from "../session/commands.ts";
import { failure } from "./errors.ts";
import { openOperation, readJsonBody } from "./handle.ts";

export const controlCall = openOperation({
  id: "call.control",
  method: "POST",
  path: "/:callId/control",
  surface: "rest",
  summary: "Says something, adds a message, mutes or ends a live call.",
  handle(request, twin) {
    const call = twin.calls.find(request.params.callId ?? "");
    if (!call) throw failure(404, "Call not found or not active.");
    if (call.assistant.monitorPlan?.controlEnabled === false)
      throw failure(404, "Call control is not enabled.");
    const parsed = parseCommand(readJsonBody(request));
    if (parsed.type === "invalid") throw failure(400, parsed.problem);
    if (parsed.type === "not-served") throw failure(400, `type ${parsed.name} is not supported`);
    if (!call.command(parsed.command)) throw failure(400, "Call is not in progress.");
    return { status: 200, body: { success: true } };
  },
});
