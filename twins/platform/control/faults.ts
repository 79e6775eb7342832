/** `/sim/faults`: arms, lists and removes faults. */

import { readJson } from "../base/json.ts";
import { MAX_FAULTS } from "../faults/faults.ts";
import { readFault } from "../faults/schema.ts";
import { errorResponse } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { ControlTarget } from "./target.ts";

export const faultOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "fault.list",
    method: "GET",
    path: "/sim/faults",
    surface: "rest",
    summary: "The faults of this twin in the order in which they are asked, with how often each has hit.",
    handle: (_request, { twin }) => ({
      status: 200,
      body: { faults: twin.faults.list().map((fault) => fault.describe()) },
    }),
  }),
  operation<ControlTarget>({
    id: "fault.arm",
    method: "POST",
    path: "/sim/faults",
    surface: "rest",
    summary: "Arms a fault for the next requests of one operation, or of all.",
    handle(request, { twin }) {
      const json = readJson(request.body);
      if (!json.ok) return errorResponse(400, "malformed_json", json.message);
      const reading = readFault(json.value, twin.type.definition);
      if (!reading.ok)
        return errorResponse(422, "invalid", "no fault was armed; see problems", reading.problems);
      const fault = twin.faults.arm(reading.fault);
      if (fault) return { status: 201, body: fault.describe() };
      return errorResponse(409, "too_many_faults", `a twin has at most ${MAX_FAULTS} faults; remove some`);
    },
  }),
  operation<ControlTarget>({
    id: "fault.clear",
    method: "DELETE",
    path: "/sim/faults",
    surface: "rest",
    summary: "Removes every fault of this twin; requests that one holds up are answered.",
    handle: (_request, { twin }) => ({ status: 200, body: { removed: twin.faults.removeAll() } }),
  }),
  operation<ControlTarget>({
    id: "fault.remove",
    method: "DELETE",
    path: "/sim/faults/:id",
    surface: "rest",
    summary: "Removes one fault; requests that it holds up are answered.",
    handle({ params }, { twin }) {
      const fault = twin.faults.remove(params.id ?? "");
      if (fault) return { status: 200, body: fault.describe() };
      return errorResponse(404, "not_found", `there is no fault ${params.id}`);
    },
  }),
];
