/** Turns a validated `POST /call` body into a `CallSetup`: the assistant, the audio format, the simulation. */
import type { CallSetup } from "../calls/call-book.ts";
import { withOverrides } from "../calls/effective-assistant.ts";
import type { Assistant, AssistantOverrides } from "../schema/assistant.ts";
import { audioFormat, type CreateCall, type WebsocketTransport } from "../schema/call.ts";
import { failure } from "./errors.ts";

/** A stored assistant by id, or `undefined`. */
export type FindAssistant = (id: string) => Assistant | undefined;

/** @throws VendorFailure in the vendor's words */
export function setUpCall(body: CreateCall, find: FindAssistant): CallSetup {
  const transport = websocketTransport(body);
  const { base, overrides } = chooseAssistant(body, find);
  const assistant = withOverrides(base, overrides);
  const simulationId = assistant.metadata?.simulationId;
  return {
    assistant,
    given: {
      assistantId: body.assistantId ?? undefined,
      assistant: body.assistant ?? undefined,
      overrides: body.assistantOverrides ?? undefined,
    },
    name: body.name ?? undefined,
    details: echoedMembers(body),
    audio: audioFormat(transport.audioFormat),
    simulationId: typeof simulationId === "string" && simulationId !== "" ? simulationId : undefined,
  };
}

/** Only `vapi.websocket` is served: it takes no phone numbers, and every other transport would need one. */
function websocketTransport(body: CreateCall): WebsocketTransport {
  const { transport } = body;
  if (transport?.provider !== "vapi.websocket") {
    throw failure(
      400,
      body.phoneNumberId
        ? `Couldn't Get Phone Number. \`phoneNumberId\` ${body.phoneNumberId} Does Not Exist.`
        : "Couldn't Get Phone Number. Need Either `phoneNumberId` Or `phoneNumber`.",
    );
  }
  const refused = (["phoneNumber", "phoneNumberId", "customers"] as const).filter(
    (name) => body[name] != null,
  );
  if (refused.length > 0)
    throw failure(
      400,
      refused.map((name) => `property ${name} should not exist`),
    );
  return transport;
}

interface Choice {
  base: Assistant;
  overrides: AssistantOverrides | null | undefined;
}

function chooseAssistant(body: CreateCall, find: FindAssistant): Choice {
  if (body.assistant) return { base: body.assistant, overrides: body.assistantOverrides };
  if (body.assistantId)
    return { base: requireAssistant(body.assistantId, find), overrides: body.assistantOverrides };
  const [member] = body.squad?.members ?? [];
  if (member) {
    const base = member.assistant ?? requireAssistant(member.assistantId ?? "", find);
    return {
      base: withOverrides(base, member.assistantOverrides),
      overrides: body.squad?.membersOverrides ?? body.squadOverrides,
    };
  }
  if (body.squadId) throw failure(400, `Couldn't Get Squad. \`squadId\` ${body.squadId} Does Not Exist.`);
  if (body.workflowId || body.workflow) {
    throw failure(400, "Couldn't Get Workflow. This Runtime Runs Assistants And Squads, Not Workflows.");
  }
  throw failure(
    400,
    "Couldn't Get Assistant. Need Either `assistant`, `assistantId`, `squad`, Or `squadId`.",
  );
}

function requireAssistant(id: string, find: FindAssistant): Assistant {
  const assistant = find(id);
  if (!assistant) throw failure(400, `Couldn't Get Assistant. \`assistantId\` ${id} Does Not Exist.`);
  return assistant;
}

const ECHOED = [
  "customer",
  "customerId",
  "squad",
  "squadOverrides",
  "schedulePlan",
  "assistantVersion",
] as const;

function echoedMembers(body: CreateCall): Record<string, unknown> {
  const members = ECHOED.map((name) => [name, body[name]] as const);
  return Object.fromEntries(members.filter(([, value]) => value != null));
}
