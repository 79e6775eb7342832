/** The engine's world: simulations and their events. */
import { randomUUID } from "node:crypto";
import type { Clock } from "@offhook/platform/base/clock";
import { createMemoryWorld } from "@offhook/platform/world/memory-world";
import { defineTable } from "@offhook/platform/world/table";
import { z } from "zod";

const MAX_SIMULATIONS = 10_000;
const MAX_EVENTS = 100_000;
const MAX_EVENT_BYTES = 128 * 1024 * 1024;

/** Letters, digits, `.`, `_`, `-`, `:`, because it appears in paths. */
export const simulationId = z
  .string()
  .min(1, "must not be empty")
  .max(128, "must have at most 128 characters")
  .regex(/^[\w.:-]+$/, "must hold only letters, digits and . _ : -");

export type EngineWorld = ReturnType<typeof createEngineWorld>;

/** @param clock source of the rows' timestamps */
export function createEngineWorld(clock: Clock) {
  const timestamp = () => z.iso.datetime().default(() => new Date(clock.now()).toISOString());
  return createMemoryWorld({
    simulations: defineTable({
      description: "A run of a scenario, to which events are reported.",
      key: "id",
      columns: {
        id: {
          type: simulationId.default(() => randomUUID()),
          description: "The simulation's id; the code under test gets it as SIMULATION_ID.",
          generated: "a new id",
        },
        scenario: {
          type: z.string().nullable().default(null),
          description: "Name of the scenario that runs.",
        },
        metadata: {
          type: z.record(z.string(), z.unknown()).default({}),
          description: "Arbitrary members, set by whoever created it.",
        },
        created_at: { type: timestamp(), description: "When it was created.", generated: "now" },
        ended_at: {
          type: z.iso.datetime().nullable().default(null),
          description: "When it ended; its trace has no later requests.",
        },
      },
      limit: { rows: MAX_SIMULATIONS },
    }),
    events: defineTable({
      description: "An event of a simulation, reported by a service.",
      key: "id",
      columns: {
        id: {
          type: z.string().default(() => randomUUID()),
          description: "The event's id.",
          generated: "a new id",
        },
        simulation_id: {
          type: z.string(),
          description: "The simulation it belongs to.",
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
