/** What was asked of the twins, and what they answered. */
import { z } from "zod";
import { anyObject, isoTime, maxText, paged, paging, twinName } from "../arguments.ts";
import { excerptOf, nextOffset, partOf, takeFitting } from "../bounds.ts";
import { ControlPlanes } from "../project.ts";
import { defineTool } from "../tool.ts";

/** A request in a list, as `/sandboxes/{id}/requests` answers it. */
const requestSummary = z.looseObject({
  twin: z.string(),
  seq: z.number(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  duration_ms: z.number().nullable(),
  received_at: z.string(),
  simulated_at: z.string(),
  fault: z.string().nullable(),
  sql: z.string().nullable(),
});
export const requestPage = z.object({ requests: z.array(requestSummary), total: z.number() });
const journalPage = requestPage.extend({ dropped: z.object({ vendor: z.number(), control: z.number() }) });

const wholeRequest = z.looseObject({
  query: z.unknown(),
  headers: z.unknown(),
  body: z.unknown(),
  notes: z.unknown(),
  response: z.object({ headers: z.unknown(), body: z.unknown() }).nullable(),
});

export const journalTools = [
  defineTool({
    name: "read_journal",
    title: "Read the journal",
    description:
      "Requests to one twin or all of them, newest first, in summaries: method, path, status, duration, the SQL it became, the fault that hit it. Use it to see what the agent really asked and what failed; read_request has one whole.",
    kind: "read",
    input: {
      twin: twinName.optional().describe("Default: all of them"),
      since: isoTime.optional(),
      until: isoTime.optional(),
      status: z.string().optional().describe("A status such as 404, or a class such as 5xx"),
      method: z.string().optional().describe("GET, POST, …; QUERY for statements of a database"),
      path: z.string().optional().describe("Without the query; * is any text: /*/_search"),
      operation: z.string().optional().describe("Id of an operation, as in an entry"),
      text: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Found as written in path, query, bodies or notes"),
      fault: z.string().optional().describe("any, or the id of a fault that hit it"),
      tier: z
        .enum(["vendor", "control"])
        .default("vendor")
        .describe("vendor: the code under test; control: testers, this server included"),
      order: z.enum(["newest", "oldest"]).default("newest"),
      ...paging,
    },
    output: {
      requests: z.array(requestSummary),
      dropped: z.number().describe("Older requests that the journal no longer has"),
      ...paged,
    },
    async run({ tier, limit, offset, ...filters }, { project }) {
      const query = { tier, limit, offset, ...filters };
      const answer = await new ControlPlanes(project).ofSandbox("GET", "/requests", query);
      const { requests, total, dropped } = journalPage.parse(answer);
      const shown = takeFitting(requests);
      return {
        requests: shown,
        dropped: dropped[tier],
        total,
        next_offset: nextOffset(offset, shown.length, total),
      };
    },
  }),

  defineTool({
    name: "read_request",
    title: "Read one request whole",
    description:
      "One request of the journal with headers, both bodies and notes (the SQL that it became, for a search). Secrets are masked. A part that is cut is read on with member and offset.",
    kind: "read",
    input: {
      twin: twinName,
      seq: z.int().min(1).describe("seq of the entry, in read_journal or read_call"),
      member: z
        .enum(["body", "response", "notes", "headers"])
        .optional()
        .describe("Answers only this part, as text, from offset"),
      offset: z.int().min(0).default(0).describe("Of member: characters to skip"),
      max_text: maxText,
    },
    output: {
      request: anyObject.optional(),
      text: z.string().optional().describe("The part that member names"),
      characters: z.number().optional().describe("Length of that part"),
      next_offset: z.number().nullable().optional().describe("offset of its rest; null: there is none"),
    },
    async run({ twin, seq, member, offset, max_text }, { project }) {
      const answer = await new ControlPlanes(project).ofTwin("GET", twin, `requests/${seq}`);
      const request = wholeRequest.parse(answer);
      const { response } = request;
      const parts = {
        body: request.body,
        response: response?.body ?? null,
        notes: request.notes,
        headers: request.headers,
      };
      if (member !== undefined) return partOf(parts[member], offset, max_text);
      const cut = (value: unknown) => excerptOf(value, max_text);
      return {
        request: {
          ...request,
          query: cut(request.query),
          headers: cut(request.headers),
          body: cut(request.body),
          notes: cut(request.notes),
          response: response && { headers: cut(response.headers), body: cut(response.body) },
        },
      };
    },
  }),
];
