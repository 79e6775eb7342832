/** Everything that is known of one call: the runtime's record, the caller's report, the simulation and its events. */
import { useRef } from "preact/hooks";
import { controlPath, read } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { useThrottled } from "../ui/hooks.ts";
import type { CallDetails, CallReport, Simulation, SimulationEvent } from "./types.ts";

/** A running call is read again at most so often. */
const REFRESH_MS = 250;
const MAX_EVENTS = 1_000;

export interface CallRecord {
  call: Resource<CallDetails>;
  simulation: Simulation | undefined;
  events: readonly SimulationEvent[];
  report: CallReport | undefined;
}

interface Story {
  simulation: Simulation | undefined;
  events: readonly SimulationEvent[];
}

/** Reads a call, and again whenever something of it changes. */
export function useCall(sandbox: string, id: string): CallRecord {
  const call = useResource(`${sandbox} ${id}`, (signal) =>
    read<CallDetails>(controlPath(sandbox, "vapi", `calls/${encodeURIComponent(id)}`), signal),
  );
  const simulationId = call.data?.simulation_id ?? undefined;
  const story = useResource(simulationId && `${sandbox} ${simulationId}`, (signal) =>
    readStory(sandbox, simulationId ?? "", signal),
  );
  const reloadCall = useThrottled(call.reload, REFRESH_MS);
  const reloadStory = useThrottled(story.reload, REFRESH_MS);
  const watched = useRef({ id, simulationId });
  watched.current = { id, simulationId };
  useLive({
    change({ twin, table, row = {} }) {
      const { id, simulationId } = watched.current;
      const own = twin === "vapi" && (table === "calls" ? row.id === id : row.call_id === id);
      if (own) reloadCall();
      const told = table === "simulations" ? row.id : row.simulation_id;
      if (twin === "engine" && simulationId !== undefined && told === simulationId) reloadStory();
    },
    gap() {
      reloadCall();
      reloadStory();
    },
  });
  const events = story.data?.events ?? [];
  return { call, simulation: story.data?.simulation, events, report: reportOf(events) };
}

async function readStory(sandbox: string, id: string, signal: AbortSignal): Promise<Story> {
  const rows = <Row>(query: Record<string, string | number>) =>
    read<{ rows: Row[] }>(controlPath(sandbox, "engine", "data", query), signal);
  const [simulations, events] = await Promise.all([
    rows<Simulation>({ entity_type: "simulations", id }),
    rows<SimulationEvent>({ entity_type: "events", simulation_id: id, limit: MAX_EVENTS }),
  ]);
  return { simulation: simulations.rows[0], events: events.rows };
}

/** The last verdict of the simulation's caller; anyone may report an event of this type, so it is looked at closely. */
function reportOf(events: readonly SimulationEvent[]): CallReport | undefined {
  const data = events.findLast(({ event_type }) => event_type === "call_report")?.data;
  if (typeof data?.passed !== "boolean" || !Array.isArray(data.failures) || !Array.isArray(data.turns)) {
    return undefined;
  }
  const { unchecked = [] } = data;
  return { ...(data as unknown as CallReport), unchecked: Array.isArray(unchecked) ? unchecked : [] };
}
