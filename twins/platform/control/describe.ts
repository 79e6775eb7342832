/** What a twin is and what it serves: health, manual, schema, operations. */
import { z } from "zod";
import { readQueryAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { TwinHealth } from "../twin/twin.ts";
import { readManual } from "./read-manual.ts";
import type { ControlTarget } from "./target.ts";

const surfaceQuery = z.strictObject({ surface: z.enum(["rest", "graphql", "mcp", "control"]).optional() });

export const describingOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "health",
    method: "GET",
    path: "/sim/health",
    surface: "rest",
    summary: "Whether the twin is up (ok, degraded, or down with 503), and what it is.",
    handle: async (_request, { sandbox, twin }) => {
      const health: TwinHealth = (await twin.running.health?.()) ?? { status: "ok" };
      return {
        status: health.status === "down" ? 503 : 200,
        body: {
          ...health,
          twin: twin.type.definition.name,
          vendor: twin.type.definition.vendor,
          versions: twin.type.definition.versions,
          sandbox: sandbox.id,
          state_version: twin.world.stateVersion,
          started_at: new Date(twin.startedAtMs).toISOString(),
          clock: sandbox.clock.describe(),
        },
      };
    },
  }),
  operation<ControlTarget>({
    id: "manual",
    method: "GET",
    path: "/sim/manual",
    surface: "rest",
    summary: "Operating notes of this twin. Operations are listed by /sim/operations.",
    handle: (_request, { twin }) => ({
      status: 200,
      body: readManual(twin.type.definition, twin.url),
    }),
  }),
  operation<ControlTarget>({
    id: "schema",
    method: "GET",
    path: "/sim/schema",
    surface: "rest",
    summary: "Every table and column in plain language.",
    handle: async (_request, { twin }) => ({
      status: 200,
      body: { tables: await twin.world.schema() },
    }),
  }),
  operation<ControlTarget>({
    id: "operations",
    method: "GET",
    path: "/sim/operations",
    surface: "rest",
    summary:
      "Every operation of the vendor that the twin serves; surface narrows the list, and surface=control lists the routes of its control plane instead.",
    handle: (request, { twin }) => {
      const query = readQueryAs(request, surfaceQuery);
      if (!query.ok) return query.response;
      const { surface } = query.value;
      if (surface === "control")
        return { status: 200, body: { operations: twin.type.controlOperations.map(showRoute) } };
      const { operations, sockets = [], connections = [] } = twin.type.definition;
      const served = [
        ...operations.map(({ id, method, path, surface, summary }) => ({
          id,
          method,
          path,
          surface,
          summary,
        })),
        ...sockets.map(({ id, path, surface, summary }) => ({
          id,
          method: "WEBSOCKET",
          path,
          surface,
          summary,
        })),
        // A connection has no surface, so a list filtered by surface omits it.
        ...connections.map(({ id, method, path, summary }) => ({ id, method, path, surface: null, summary })),
      ];
      return {
        status: 200,
        body: { operations: served.filter((entry) => surface === undefined || entry.surface === surface) },
      };
    },
  }),
];

function showRoute({ id, method, path, summary }: Operation<ControlTarget>) {
  return { id, method, path, surface: "control", summary };
}
