/** The rows of the list: calls of the runtime with the verdicts of the engine, or the other way round. */
import { controlPath, read } from "../api/client.ts";
import type { CallSummary, SimulationSummary } from "./types.ts";

export const PAGE_ROWS = 50;

/** Which calls are listed; all of it is in the address. */
export interface CallFilter {
  show: "all" | "running" | "failed" | "passed";
  scenario: string;
  offset: number;
}

/** A simulation may fail before there is a call; a call may have no simulation. */
export interface CallRow {
  call: CallSummary | undefined;
  simulation: SimulationSummary | undefined;
}

export interface CallPage {
  rows: readonly CallRow[];
  total: number;
  /** Names of all scenarios that were placed in this sandbox. */
  scenarios: readonly string[];
}

interface SimulationsAnswer {
  simulations: SimulationSummary[];
  total: number;
  scenarios: string[];
}

interface CallsAnswer {
  calls: CallSummary[];
  total: number;
}

export async function readCallPage(
  sandbox: string,
  filter: CallFilter,
  signal: AbortSignal,
): Promise<CallPage> {
  const byVerdict = filter.scenario !== "" || filter.show === "failed" || filter.show === "passed";
  return byVerdict ? readBySimulation(sandbox, filter, signal) : readByCall(sandbox, filter, signal);
}

async function readByCall(
  sandbox: string,
  { show, offset }: CallFilter,
  signal: AbortSignal,
): Promise<CallPage> {
  const status = show === "running" ? "in-progress" : undefined;
  const page = { status, order: "newest", limit: PAGE_ROWS, offset };
  const { calls, total } = await read<CallsAnswer>(controlPath(sandbox, "vapi", "calls", page), signal);
  const id = [...new Set(calls.flatMap(({ simulation_id }) => simulation_id ?? []))];
  // Without an id to ask for, only the scenarios are of interest.
  const wanted = id.length > 0 ? { id, limit: id.length } : { limit: 0 };
  const { simulations, scenarios } = await readSimulations(sandbox, wanted, signal);
  const byId = new Map(simulations.map((simulation) => [simulation.id, simulation]));
  const rows = calls.map((call) => ({ call, simulation: byId.get(call.simulation_id ?? "") }));
  return { rows, total, scenarios };
}

async function readBySimulation(
  sandbox: string,
  { show, scenario, offset }: CallFilter,
  signal: AbortSignal,
): Promise<CallPage> {
  const verdict = show === "failed" || show === "passed" ? show : show === "running" ? "none" : undefined;
  const query = { scenario, verdict, order: "newest", limit: PAGE_ROWS, offset };
  const { simulations, total, scenarios } = await readSimulations(sandbox, query, signal);
  const rows = await Promise.all(
    simulations.map(async (simulation): Promise<CallRow[]> => {
      const { calls } = await read<CallsAnswer>(
        controlPath(sandbox, "vapi", "calls", { simulation_id: simulation.id, order: "newest" }),
        signal,
      );
      return calls.length === 0
        ? [{ call: undefined, simulation }]
        : calls.map((call) => ({ call, simulation }));
    }),
  );
  const isWanted = ({ call }: CallRow) => show !== "running" || call?.status === "in-progress";
  return { rows: rows.flat().filter(isWanted), total, scenarios };
}

function readSimulations(
  sandbox: string,
  query: Parameters<typeof controlPath>[3],
  signal: AbortSignal,
): Promise<SimulationsAnswer> {
  return read<SimulationsAnswer>(controlPath(sandbox, "engine", "simulations", query), signal);
}
