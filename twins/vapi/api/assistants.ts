/** `/assistant`: stored assistants. Source: https://docs.vapi.ai/api-reference/assistants */
import type { VendorRequest } from "@offhook/platform/http/operation";
import type { StoredAssistant } from "../calls/assistant-store.ts";
import { assistantSchema } from "../schema/assistant.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { failure } from "./errors.ts";
import { authenticatedOperation, readBody, readQuery } from "./handle.ts";
import { applyListQuery, listAssistantsQuery } from "./list-query.ts";

export const createAssistant = authenticatedOperation({
  id: "assistant.create",
  method: "POST",
  path: "/assistant",
  surface: "rest",
  summary: "Stores an assistant.",
  handle(request, twin) {
    return { status: 201, body: bodyOf(twin.assistants.create(readBody(request, assistantSchema))) };
  },
});

export const listAssistants = authenticatedOperation({
  id: "assistant.list",
  method: "GET",
  path: "/assistant",
  surface: "rest",
  summary: "Lists stored assistants, newest first.",
  handle(request, twin) {
    const query = readQuery(request, listAssistantsQuery);
    return { status: 200, body: applyListQuery(twin.assistants.all(), query).map(bodyOf) };
  },
});

export const getAssistant = authenticatedOperation({
  id: "assistant.get",
  method: "GET",
  path: "/assistant/:id",
  surface: "rest",
  summary: "Answers one stored assistant.",
  handle(request, twin) {
    return { status: 200, body: bodyOf(storedOf(request, twin)) };
  },
});

export const updateAssistant = authenticatedOperation({
  id: "assistant.update",
  method: "PATCH",
  path: "/assistant/:id",
  surface: "rest",
  summary: "Replaces the named members of a stored assistant.",
  handle(request, twin) {
    const { id } = storedOf(request, twin);
    const changes = readBody(request, assistantSchema);
    twin.assistants.change(id, changes);
    return { status: 200, body: bodyOf(storedOf(request, twin)) };
  },
});

export const deleteAssistant = authenticatedOperation({
  id: "assistant.delete",
  method: "DELETE",
  path: "/assistant/:id",
  surface: "rest",
  summary: "Removes a stored assistant.",
  handle(request, twin) {
    const stored = storedOf(request, twin);
    twin.assistants.remove(stored.id);
    return { status: 200, body: bodyOf(stored) };
  },
});

function bodyOf({ id, org_id, created_at, updated_at, assistant }: StoredAssistant) {
  return {
    id,
    orgId: org_id,
    ...assistant,
    createdAt: created_at,
    updatedAt: updated_at,
    isServerUrlSecretSet: Boolean(assistant.serverUrlSecret ?? assistant.server?.secret),
  };
}

/** @throws VendorFailure for an unknown assistant */
function storedOf(request: VendorRequest, twin: VoiceRuntimeTwin): StoredAssistant {
  const id = request.params.id ?? "";
  const stored = twin.assistants.get(id);
  if (!stored) throw failure(404, `Couldn't Get Assistant. \`assistantId\` ${id} Does Not Exist.`);
  return stored;
}
