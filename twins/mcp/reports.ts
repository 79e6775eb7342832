/** Verdicts that callers reported to the engine. */
import { z } from "zod";
import { anyObject } from "./arguments.ts";
import type { ControlPlanes } from "./project.ts";

const simulationsAnswer = z.object({
  simulations: z.array(z.object({ id: z.string(), scenario: z.string().nullable(), verdict: z.unknown() })),
});
const eventsAnswer = z.object({ rows: z.array(z.object({ data: z.unknown() })) });
const callsAnswer = z.object({ calls: z.array(z.object({ id: z.string() })) });

/** The event `call_report`; anyone may report one, so what is missing has a default. */
const reportData = z.object({
  scenario: z.string().nullable().default(null),
  passed: z.boolean(),
  failures: z.array(z.string()).default([]),
  unchecked: z.array(z.string()).default([]),
  outcome: z.string().nullable().default(null),
  reason: z.string().nullable().default(null),
  ended_by: z.string().nullable().default(null),
  duration_ms: z.number().nullable().default(null),
  setup_ms: z.number().nullable().default(null),
  turns: z.array(anyObject).default([]),
});

export interface Report {
  simulationId: string;
  /** `null` when the runtime had no call of it. */
  callId: string | null;
  data: z.output<typeof reportData>;
}

/** Simulations that are searched for the latest verdict; those that run have none yet. */
const MAX_SEARCHED = 100;

/** The latest report of a simulation, of a scenario, or of all; `undefined` when there is none. */
export async function readReport(
  planes: ControlPlanes,
  { simulation_id: id, scenario }: { simulation_id?: string | undefined; scenario?: string | undefined },
): Promise<Report | undefined> {
  const query = { id, scenario, order: "newest", limit: MAX_SEARCHED };
  const answer = await planes.ofTwin("GET", "engine", "simulations", query);
  const judged = simulationsAnswer.parse(answer).simulations.find(({ verdict }) => verdict !== null);
  if (judged === undefined) return undefined;
  const { rows } = eventsAnswer.parse(
    await planes.ofTwin("GET", "engine", "data", {
      entity_type: "events",
      simulation_id: judged.id,
      event_type: "call_report",
    }),
  );
  const data = reportData.safeParse(rows.at(-1)?.data).data;
  return data && { simulationId: judged.id, callId: await callOf(planes, judged.id), data };
}

async function callOf(planes: ControlPlanes, simulationId: string): Promise<string | null> {
  if (!(await planes.has("vapi"))) return null;
  const query = { simulation_id: simulationId, order: "newest", limit: 1 };
  const { calls } = callsAnswer.parse(await planes.ofTwin("GET", "vapi", "calls", query));
  return calls[0]?.id ?? null;
}
