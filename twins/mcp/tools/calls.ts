/** Calls of the runtime: the list, and one with everything that is known of it. */
import { z } from "zod";
import { anyObject, maxText, paged, paging } from "../arguments.ts";
import { nextOffset, partOf, takeFitting } from "../bounds.ts";
import { callDetails, describeEntry, entriesOf, readCaused, wholeEntry } from "../call-story.ts";
import { ControlPlanes, ToolError } from "../project.ts";
import { defineTool } from "../tool.ts";

const callSummary = z.object({
  id: z.string(),
  simulation_id: z.string().nullable(),
  status: z.string(),
  ended_reason: z.string().nullable(),
  created_at: z.string(),
  duration_ms: z.number().nullable(),
  turns: z.number(),
  tool_calls: z.array(z.string().nullable()),
  slowest_response_ms: z.number().nullable(),
  unrecognised: z.number(),
});
const callsAnswer = z.object({ calls: z.array(callSummary), total: z.number() });
const simulationsAnswer = z.object({
  simulations: z.array(
    z.object({
      id: z.string(),
      scenario: z.string().nullable(),
      verdict: z.object({ passed: z.boolean(), failures: z.array(z.string()) }).nullable(),
    }),
  ),
});

export const callTools = [
  defineTool({
    name: "list_calls",
    title: "List the calls",
    description:
      "Calls of the voice runtime, newest first, with scenario, verdict, tools and slowest response. Use it to find a call that somebody else placed; run_scenario answers the id of its own.",
    kind: "read",
    input: {
      status: z.enum(["queued", "in-progress", "ended"]).optional(),
      ...paging,
    },
    output: {
      calls: z.array(
        callSummary.extend({
          scenario: z.string().nullable(),
          passed: z.boolean().nullable().describe("null: nobody judged it"),
          failures: z.number().describe("How many; read_verdict has them"),
        }),
      ),
      ...paged,
    },
    async run({ status, limit, offset }, { project }) {
      const planes = new ControlPlanes(project);
      const query = { status, order: "newest", limit, offset };
      const { calls, total } = callsAnswer.parse(await planes.ofTwin("GET", "vapi", "calls", query));
      const id = [...new Set(calls.flatMap(({ simulation_id }) => simulation_id ?? []))];
      const judged = { id, limit: id.length };
      const answer =
        id.length === 0 ? undefined : await planes.ofTwin("GET", "engine", "simulations", judged);
      const { simulations } = simulationsAnswer.parse(answer ?? { simulations: [] });
      const described = calls.map((call) => {
        const simulation = simulations.find((each) => each.id === call.simulation_id);
        return {
          ...call,
          scenario: simulation?.scenario ?? null,
          passed: simulation?.verdict?.passed ?? null,
          failures: simulation?.verdict?.failures.length ?? 0,
        };
      });
      const shown = takeFitting(described);
      return { calls: shown, total, next_offset: nextOffset(offset, shown.length, total) };
    },
  }),

  defineTool({
    name: "read_call",
    title: "Read a call",
    description:
      "What was said and done in a call, in order: the transcript with the latency of each answer in its parts; each tool with arguments, result, its webhook (attempts, status, error), and the requests that it made to other twins (SQL included). Use it to find why a run failed; read_request has one of the requests whole.",
    kind: "read",
    input: {
      call_id: z.string().min(1).optional().describe("Default: the newest call"),
      entry: z
        .int()
        .min(0)
        .optional()
        .describe(
          "Answers only this entry, with what was sent to the webhook: JSON text from offset, at most max_text characters",
        ),
      offset: z.int().min(0).default(0).describe("Entries to skip; with entry, characters"),
      limit: paging.limit,
      max_text: maxText,
    },
    output: {
      call: anyObject,
      entries: z.array(anyObject).optional(),
      total: z.number().optional().describe("Entries there are"),
      text: z.string().optional().describe("The one entry"),
      characters: z.number().optional().describe("Length of the one entry"),
      next_offset: z.number().nullable().describe("offset of the rest; null: there is none"),
      notes: z.array(z.string()),
    },
    async run({ call_id, entry, offset, limit, max_text }, { project }) {
      const planes = new ControlPlanes(project);
      const id = call_id ?? (await newestCall(planes));
      const { messages, events, ...call } = callDetails.parse(
        await planes.ofTwin("GET", "vapi", `calls/${encodeURIComponent(id)}`),
      );
      const entries = entriesOf(messages);
      const total = entries.length;
      const { requestsOf, notes } = await readCaused(planes, call, entries);
      if (entry !== undefined) {
        const one = entries[entry];
        if (one === undefined)
          throw new ToolError(`the call has the entries 0 to ${total - 1}, not ${entry}`);
        const whole = wholeEntry(one, requestsOf(one));
        return { call: { id: call.id }, ...partOf(whole, offset, max_text), notes };
      }
      const described = entries
        .map((each, index) => ({ entry: index, ...describeEntry(each, requestsOf(each), max_text) }))
        .slice(offset, offset + limit);
      const shown = takeFitting(described);
      const next_offset = nextOffset(offset, shown.length, total);
      return { call: { ...call, events }, entries: shown, total, next_offset, notes };
    },
  }),
];

async function newestCall(planes: ControlPlanes): Promise<string> {
  const answer = await planes.ofTwin("GET", "vapi", "calls", { order: "newest", limit: 1 });
  const [newest] = callsAnswer.parse(answer).calls;
  if (newest === undefined) throw new ToolError("there is no call yet: run_scenario places one");
  return newest.id;
}
