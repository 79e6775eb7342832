/** `/call`: create, list, get, rename, end. Source: https://docs.vapi.ai/api-reference/calls */
import type { VendorRequest } from "@offhook/platform/http/operation";
import { createCallSchema, deleteCallSchema, updateCallSchema } from "../schema/call.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";
import type { CallRow } from "../world.ts";
import { setUpCall } from "./call-setup.ts";
import { failure } from "./errors.ts";
import { authenticatedOperation, readBody, readQuery } from "./handle.ts";
import { applyListQuery, listCallsQuery } from "./list-query.ts";

export const createCall = authenticatedOperation({
  id: "call.create",
  method: "POST",
  path: "/call",
  surface: "rest",
  summary: "Creates a call and answers the address of its audio socket.",
  handle(request, twin) {
    const setup = setUpCall(readBody(request, createCallSchema), (id) => twin.assistants.find(id));
    const { row, subscriptionLimits } = twin.calls.create(setup, request.headers);
    return { status: 201, body: { subscriptionLimits, ...twin.store.summary(row, setup.assistant) } };
  },
});

export const listCalls = authenticatedOperation({
  id: "call.list",
  method: "GET",
  path: "/call",
  surface: "rest",
  summary: "Lists calls, newest first.",
  handle(request, twin) {
    const query = readQuery(request, listCallsQuery);
    twin.calls.expire();
    const rows = twin.store
      .all()
      .filter((row) => query.id === undefined || row.id === query.id)
      .filter((row) => query.assistantId === undefined || row.assistant_id === query.assistantId)
      .filter(() => query.phoneNumberId === undefined);
    return { status: 200, body: applyListQuery(rows, query).map((row) => bodyOf(row, twin)) };
  },
});

export const getCall = authenticatedOperation({
  id: "call.get",
  method: "GET",
  path: "/call/:id",
  surface: "rest",
  summary: "Answers one call with its messages and artifact.",
  handle(request, twin) {
    return { status: 200, body: bodyOf(rowOf(request, twin), twin) };
  },
});

export const updateCall = authenticatedOperation({
  id: "call.update",
  method: "PATCH",
  path: "/call/:id",
  surface: "rest",
  summary: "Renames a call.",
  handle(request, twin) {
    const { id } = rowOf(request, twin);
    const { name } = readBody(request, updateCallSchema);
    if (name !== undefined) twin.store.rename(id, name);
    return { status: 200, body: bodyOf(rowOf(request, twin), twin) };
  },
});

export const deleteCall = authenticatedOperation({
  id: "call.delete",
  method: "DELETE",
  path: "/call/:id",
  surface: "rest",
  summary: "Ends a live call and keeps its record; removes the record of a call that has ended.",
  async handle(request, twin) {
    const row = rowOf(request, twin);
    readBody(request, deleteCallSchema);
    const live = twin.calls.find(row.id);
    if (live) {
      live.end("manually-canceled");
      await live.closed;
      return { status: 200, body: bodyOf(rowOf(request, twin), twin) };
    }
    const body = bodyOf(row, twin);
    twin.store.remove(row.id);
    return { status: 200, body };
  },
});

function bodyOf(row: Readonly<CallRow>, twin: VoiceRuntimeTwin) {
  return twin.store.body(row, twin.assistants.of(row));
}

/** @throws VendorFailure for an unknown call */
function rowOf(request: VendorRequest, twin: VoiceRuntimeTwin): Readonly<CallRow> {
  twin.calls.expire();
  const id = request.params.id ?? "";
  const row = twin.store.get(id);
  if (!row) throw failure(404, `Call with ID ${id} Does Not Exist.`);
  return row;
}
