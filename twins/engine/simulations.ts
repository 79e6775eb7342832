/** `/sim/simulations`: the simulations as a tester reads them, each with the verdict that was reported of it. */
import { pageParameters } from "@offhook/platform/control/paging";
import { readQueryAs } from "@offhook/platform/http/errors";
import { operation } from "@offhook/platform/http/operation";
import type { RunningTwin } from "@offhook/platform/twin/twin";
import { z } from "zod";
import type { EngineWorld } from "./tables.ts";

/** The event by which a simulated caller reports how the call was judged. */
const CALL_REPORT = "call_report";
const MAX_IDS = 200;

const simulationsQuery = z.strictObject({
  id: z.array(z.string()).max(MAX_IDS, `at most ${MAX_IDS} at once`).optional(),
  scenario: z.string().optional(),
  verdict: z.enum(["passed", "failed", "none"]).optional(),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  ...pageParameters,
});

const verdictData = z.object({
  passed: z.boolean(),
  failures: z.array(z.string()).default([]),
  unchecked: z.array(z.string()).default([]),
  outcome: z.string().nullish().default(null),
  ended_by: z.string().nullish().default(null),
  duration_ms: z.number().nullish().default(null),
});
type Verdict = z.output<typeof verdictData>;

export const readSimulations = operation<RunningTwin & { world: EngineWorld }>({
  id: "simulations.read",
  method: "GET",
  path: "/sim/simulations",
  surface: "rest",
  summary:
    "Simulations in the order of their creation, oldest first unless order=newest, filtered by id, scenario and verdict; each with the verdict that its caller reported.",
  handle(request, { world }) {
    const query = readQueryAs(request, simulationsQuery, ["id"]);
    if (!query.ok) return query.response;
    const { id: ids, scenario, verdict: wanted, order, limit, offset } = query.value;
    const verdictOf = ids === undefined ? allVerdicts(world) : verdictsOneByOne(world);
    const simulations = world.table("simulations");
    const chosen = ids === undefined ? simulations.all() : ids.flatMap((id) => simulations.get(id) ?? []);
    const found = chosen.filter(
      (row) =>
        (scenario === undefined || row.scenario === scenario) &&
        (wanted === undefined || nameOf(verdictOf(row.id)) === wanted),
    );
    const page = (order === "newest" ? found.reverse() : found).slice(offset, offset + limit);
    return {
      status: 200,
      body: {
        simulations: page.map((row) => ({
          id: row.id,
          scenario: row.scenario,
          created_at: row.created_at,
          ended_at: row.ended_at,
          verdict: verdictOf(row.id) ?? null,
        })),
        total: found.length,
        limit,
        offset,
        scenarios: [...new Set(simulations.all().flatMap(({ scenario: name }) => name ?? []))].sort(),
      },
    };
  },
});

function nameOf(verdict: Verdict | undefined): "passed" | "failed" | "none" {
  if (verdict === undefined) return "none";
  return verdict.passed ? "passed" : "failed";
}

/** Reads all reports once. */
function allVerdicts(world: EngineWorld): (id: string) => Verdict | undefined {
  const reports = world.table("events").find({ event_type: CALL_REPORT });
  const verdicts = new Map(reports.map(({ simulation_id, data }) => [simulation_id, readVerdict(data)]));
  return (id) => verdicts.get(id);
}

/** Finds the reports of a few simulations without reading those of all. */
function verdictsOneByOne(world: EngineWorld): (id: string) => Verdict | undefined {
  return (id) => {
    const last = world.table("events").find({ simulation_id: id, event_type: CALL_REPORT }).at(-1);
    return last && readVerdict(last.data);
  };
}

/** Anyone may report an event of this type; one that is no verdict is none. */
function readVerdict(data: unknown): Verdict | undefined {
  return verdictData.safeParse(data).data;
}
