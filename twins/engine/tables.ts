/** The engine's world: simulations, and what was reported about each. */
import { randomUUID } from "node:crypto";
import type { Clock } from "@offhook/platform/base/clock";
import { createMemoryWorld } from "@offhook/platform/world/memory-world";
import { defineTable } from "@offhook/platform/world/table";
import { z } from "zod";

const MAX_SIMULATIONS = 10_000;
const MAX_EVENTS = 100_000;
const MAX_EVENT_BYTES = 128 * 1024 * 1024;

/** Letters, digits, `.`, `_`, `-`, `:`; it stands in paths. */
export const simulationId = z
  .string()
  .min(1, "must not be empty")
  .max(128, "must have at most 128 characters")
  .regex(/^[\w.:-]+$/, "must hold only letters, digits and . _ : -");

export type EngineWorld = ReturnType<typeof createEngineWorld>;

/** @param clock gives the times that rows are stamped with. */
export function createEngineWorld(clock: Clock) {
  const timestamp = () => z.iso.datetime().default(() => new Date(clock.now()).toISOString());
  return createMemoryWorld({
    simulations: defineTable({
      description: "A run of a scenario; events are reported to it.",
      key: "id",
      columns: {
        id: {
          type: simulationId.default(() => randomUUID()),
          description: "The simulation's id, which the code under test is given as SIMULATION_ID.",
          generated: "a new id",
        },
        scenario: {
          type: z.string().nullable().default(null),
          description: "Name of the scenario that runs.",
        },
        metadata: {
          type: z.record(z.string(), z.unknown()).default({}),
          description: "Whatever its starter wants to keep with it.",
        },
        created_at: { type: timestamp(), description: "When it was created.", generated: "now" },
        ended_at: {
          type: z.iso.datetime().nullable().default(null),
          description: "When it was ended; its trace holds no request that came later.",
        },
      },
      limit: { rows: MAX_SIMULATIONS },
    }),
    events: defineTable({
      description: "Something that happened in a simulation, as a service reported it.",
      key: "id",
      columns: {
        id: {
          type: z.string().default(() => randomUUID()),
          description: "The event's id.",
          generated: "a new id",
        },
        simulation_id: {
          type: z.string(),
          description: "The simulation it happened in.",
          references: "simulations.id",
        },
        service: { type: z.string().min(1), description: "Who reported it, such as agent." },
        event_type: { type: z.string().min(1), description: "What happened, such as agent_tool_call." },
        data: { type: z.record(z.string(), z.unknown()), description: "The particulars." },
        received_at: { type: timestamp(), description: "When the engine received it.", generated: "now" },
      },
      limit: { rows: MAX_EVENTS, bytes: MAX_EVENT_BYTES },
    }),
  });
}
