/**
 * The simulation engine, to which code under test reports what it does. Always present; it also answers at the gateway's
 * root, so that `ENGINE_URL` is the gateway's own address.
 */

import { MAX_LIMIT, pageParameters } from "@offhook/platform/control/paging";
import { errorResponse, ownRefusal, readBodyAs, readQueryAs } from "@offhook/platform/http/errors";
import { operation, type VendorResponse } from "@offhook/platform/http/operation";
import { defineTwin, type RunningTwin } from "@offhook/platform/twin/twin";
import { createReset } from "@offhook/platform/world/baseline";
import { z } from "zod";
import { eventBody } from "./events.ts";
import { readSimulations } from "./simulations.ts";
import { createEngineWorld, type EngineWorld, simulationId } from "./tables.ts";
import { type TracedSimulation, type TraceEntry, traceOf } from "./trace.ts";

interface Engine extends RunningTwin {
  world: EngineWorld;
  now(): string;
  trace(simulation: TracedSimulation): TraceEntry[];
}

/** Maximum size of an event; tool results are most of it. */
const MAX_EVENT_BYTES = 256 * 1024;
/** Maximum events of one simulation, so that a runaway one does not displace the events of others. */
const MAX_EVENTS_PER_SIMULATION = 10_000;

const simulationBody = z
  .strictObject({
    id: simulationId.optional(),
    scenario: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .default({});

/** The default page is the largest one, which holds most simulations. */
const eventsQuery = z.strictObject({
  ...pageParameters,
  limit: pageParameters.limit.prefault(String(MAX_LIMIT)),
});

const operations = [
  operation<Engine>({
    id: "simulation.create",
    method: "POST",
    path: "/simulations",
    surface: "rest",
    summary: "Creates a simulation, with a new id unless one is given.",
    handle(request, { world }) {
      const body = readBodyAs(request, simulationBody);
      if (!body.ok) return body.response;
      const simulations = world.table("simulations");
      if (body.value.id !== undefined && simulations.get(body.value.id)) {
        return errorResponse(409, "conflict", `simulation ${body.value.id} exists already`);
      }
      return { status: 201, body: simulations.insert(body.value) };
    },
  }),
  operation<Engine>({
    id: "simulation.get",
    method: "GET",
    path: "/simulations/:id",
    surface: "rest",
    summary: "A simulation and the number of its events.",
    handle: ({ params }, { world }) => {
      const simulation = world.table("simulations").get(params.id ?? "");
      if (!simulation) return unknownSimulation(params.id);
      return {
        status: 200,
        body: { ...simulation, events: world.table("events").count({ simulation_id: simulation.id }) },
      };
    },
  }),
  operation<Engine>({
    id: "simulation.end",
    method: "POST",
    path: "/simulations/:id/end",
    surface: "rest",
    summary: "Ends a simulation: its trace has no later requests to twins. Ending it again changes nothing.",
    handle: ({ params }, { world, now }) => {
      const simulations = world.table("simulations");
      const simulation = simulations.get(params.id ?? "");
      if (!simulation) return unknownSimulation(params.id);
      if (simulation.ended_at !== null) return { status: 200, body: simulation };
      return { status: 200, body: simulations.update(simulation.id, { ended_at: now() }) };
    },
  }),
  operation<Engine>({
    id: "event.create",
    method: "POST",
    path: "/simulations/:id/events",
    surface: "rest",
    summary: "Reports an event of a simulation.",
    maxBodyBytes: MAX_EVENT_BYTES,
    handle(request, { world }) {
      const simulation = world.table("simulations").get(request.params.id ?? "");
      if (!simulation) return unknownSimulation(request.params.id);
      const body = readBodyAs(request, eventBody);
      if (!body.ok) return body.response;
      if (world.table("events").count({ simulation_id: simulation.id }) >= MAX_EVENTS_PER_SIMULATION) {
        return errorResponse(
          429,
          "too_many_events",
          `simulation ${simulation.id} has ${MAX_EVENTS_PER_SIMULATION} events, which is the limit`,
        );
      }
      const event = world.table("events").insert({ ...body.value, simulation_id: simulation.id });
      return { status: 201, body: event };
    },
  }),
  operation<Engine>({
    id: "event.list",
    method: "GET",
    path: "/simulations/:id/events",
    surface: "rest",
    summary: "The events of a simulation, oldest first, up to a thousand per page (limit, offset).",
    handle: (request, { world }) => {
      const simulation = world.table("simulations").get(request.params.id ?? "");
      if (!simulation) return unknownSimulation(request.params.id);
      const query = readQueryAs(request, eventsQuery);
      if (!query.ok) return query.response;
      const { limit, offset } = query.value;
      const events = eventsOf(world, simulation.id);
      return {
        status: 200,
        body: { events: events.slice(offset, offset + limit), total: events.length, limit, offset },
      };
    },
  }),
  operation<Engine>({
    id: "simulation.trace",
    method: "GET",
    path: "/simulations/:id/trace",
    surface: "rest",
    summary:
      "The trace in time order: the agent's reports, the requests to the sandbox's twins, what was said.",
    handle: ({ params }, { world, trace }) => {
      const simulation = world.table("simulations").get(params.id ?? "");
      if (!simulation) return unknownSimulation(params.id);
      return { status: 200, body: { simulation, trace: trace(simulation) } };
    },
  }),
];

function eventsOf(world: EngineWorld, id: string) {
  return world.table("events").find({ simulation_id: id });
}

function unknownSimulation(id: string | undefined): VendorResponse {
  return errorResponse(404, "not_found", `there is no simulation ${id}; create it with POST /simulations`);
}

export default defineTwin({
  name: "engine",
  vendor: "simulation engine",
  versions: ["1"],
  config: z.strictObject({}),
  operations,
  controlOperations: [readSimulations],
  faultStatuses: [400, 401, 403, 404, 409, 429, 500, 502, 503, 504],
  refusal: ownRefusal,
  manual: {
    credentials: [
      {
        id: "engine.no-credentials",
        text: "It needs no credentials: every client that reaches it may use it.",
      },
    ],
    repeatedWrites: [
      {
        id: "engine.simulation-again",
        text: "Creating a simulation with an id that exists is answered with 409; the existing one stays.",
      },
      {
        id: "engine.simulation-without-id",
        text: "Creating a simulation without an id twice makes two simulations.",
      },
      { id: "engine.event-again", text: "Reporting the same event twice stores two events." },
      { id: "engine.end-again", text: "Ending a simulation again changes nothing." },
    ],
    notes: [
      { id: "engine.profile", text: "It has one profile, default: the state at its start." },
      {
        id: "engine.root",
        text: "The engine of the first sandbox also answers at the root address of the twins.",
      },
      {
        id: "engine.unknown-simulation",
        text: "An event of an unknown simulation is answered with 404.",
      },
      {
        id: "engine.trace",
        text: "A trace has the events of its simulation, and the requests to every other twin of the sandbox between its start and its end.",
      },
    ],
  },
  async start(context): Promise<Engine> {
    const world = createEngineWorld(context.clock);
    return {
      world,
      now: () => new Date(context.clock.now()).toISOString(),
      trace: (simulation) => traceOf(simulation, eventsOf(world, simulation.id), context.view, context.name),
      reset: await createReset(world),
      stop: async () => undefined,
    };
  },
  // The engine answers at the root of the gateway as well as at its own path.
  clientEnvironment: (url) => ({ ENGINE_URL: url }),
});
