/** `/sim/faults`: arms, lists and removes faults. */

import { z } from "zod";
import { readJson } from "../base/json.ts";
import { MAX_FAULTS } from "../faults/faults.ts";
import { readFault } from "../faults/schema.ts";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import { faultTemplates } from "./fault-templates.ts";
import type { ControlTarget } from "./target.ts";

const templatesQuery = z.strictObject({ operation: z.string().optional() });

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
    id: "fault.templates",
    method: "GET",
    path: "/sim/faults/templates",
    surface: "rest",
    summary:
      "Faults that can be armed as they are: for all operations and the most wanted of each, or all of one operation.",
    handle(request, { twin }) {
      const query = readQueryAs(request, templatesQuery);
      if (!query.ok) return query.response;
      const { operation: id } = query.value;
      const { definition } = twin.type;
      const { operations, sockets = [], connections = [] } = definition;
      const isServed = [...operations, ...sockets, ...connections].some((served) => served.id === id);
      if (id === undefined || isServed)
        return { status: 200, body: { templates: faultTemplates(definition, id) } };
      const problems = [{ field: "operation", rule: "there is no such operation; see /sim/operations" }];
      return errorResponse(422, "invalid", "the query is not what this route takes", problems);
    },
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
