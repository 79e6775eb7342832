/** The operations below `/campaigns`. They read alone: campaigns are started and cancelled by the command. */
import { errorResponse, readQueryAs } from "@offhook/platform/http/errors";
import type { Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { parseRange } from "@offhook/platform/http/range";
import { z } from "zod";
import { isPassing } from "../database.ts";
import type { CallKey, Campaign } from "../records.ts";
import { snakeKeys, toJson } from "../report/json.ts";
import { describe, reportOn, type TalliedCampaign } from "../report/report.ts";
import { proportionOf } from "../report/statistics.ts";
import { CampaignError, type CampaignStore } from "../store.ts";
import { audioSize, listCalls, type Progress, readAudio, readCall, readKept } from "./queries.ts";
import { type CampaignReader, NoDatabase } from "./reader.ts";

const MAX_CAMPAIGNS = 100;
const MAX_CALLS = 200;
const DEFAULT_CALLS = 100;
/** A baseline that is none, for campaigns that have one. */
const NO_BASELINE = "none";

const noQuery = z.strictObject({});
const reportQuery = z.strictObject({ baseline: z.string().optional() });
const callsQuery = z.strictObject({
  scenario: z.string().optional(),
  variant: z.string().optional(),
  verdict: z.enum(["passed", "failed", "error"]).optional(),
  after: z.string().transform(readCursor).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_CALLS).default(DEFAULT_CALLS),
});

/** Makes the operations of a reader. */
export function campaignOperations(reader: CampaignReader): readonly Operation<unknown>[] {
  return [
    get(
      "campaign.list",
      "/campaigns",
      "The newest campaigns: how far they are, and how many calls pass.",
      async (request) => {
        const query = readQueryAs(request, noQuery);
        return query.ok ? { status: 200, body: await listCampaigns(reader) } : query.response;
      },
    ),
    get(
      "campaign.show",
      "/campaigns/:id",
      "One campaign, with what it calls and how.",
      async ({ params }) => {
        const store = await reader.store();
        const campaign = await store.readCampaign(params.id ?? "");
        const progress = await reader.progress([campaign]);
        const { scenarios, variants, keep } = campaign.spec;
        const names = variants.map(({ name }) => name);
        const body = { ...summaryOf(campaign, progress(campaign.id)), scenarios, variants: names, keep };
        return { status: 200, body };
      },
    ),
    get("campaign.report", "/campaigns/:id/report", "The report of a campaign, so far.", async (request) => {
      const query = readQueryAs(request, reportQuery);
      return query.ok ? report(reader, request.params.id ?? "", query.value.baseline) : query.response;
    }),
    get("campaign.calls", "/campaigns/:id/calls", "The calls of a campaign, in pages.", async (request) => {
      const query = readQueryAs(request, callsQuery);
      if (!query.ok) return query.response;
      const store = await reader.store();
      const { id } = await store.readCampaign(request.params.id ?? "");
      const calls = await listCalls(store, id, query.value);
      const last = calls.length === query.value.limit ? calls.at(-1) : undefined;
      const next = last ? cursorOf(last) : null;
      return { status: 200, body: { calls: calls.map(snakeKeys), next } };
    }),
    get("campaign.call", CALL, "One call, with the report and the trace that were kept of it.", (request) =>
      withCall(reader, request, async (store, id, key) => {
        const call = await readCall(store, id, key);
        if (!call) return notFound("the call has no verdict yet, or there is no such call");
        const kept = await readKept(store, id, key);
        return { status: 200, body: { call: snakeKeys(call), kept: kept ? keptBody(kept) : null } };
      }),
    ),
    get(
      "campaign.audio",
      `${CALL}/audio`,
      "The sound of a call: caller left, callee right. Takes Range.",
      (request) => withCall(reader, request, (store, id, key) => answerAudio(request, store, id, key)),
    ),
  ];
}

const CALL = "/campaigns/:id/calls/:scenario/:variant/:repeat";

/** An operation that answers where there is no database, or no such campaign. */
function get(
  id: string,
  path: string,
  summary: string,
  handle: (request: VendorRequest) => Promise<VendorResponse>,
): Operation<unknown> {
  return {
    id,
    method: "GET",
    path,
    surface: "rest",
    summary,
    async handle(request) {
      try {
        return await handle(request);
      } catch (error) {
        if (error instanceof CampaignError) return notFound(error.message);
        if (error instanceof NoDatabase) return errorResponse(503, "unavailable", error.message);
        if (isPassing(error))
          return errorResponse(503, "unavailable", "the database of campaigns does not answer");
        throw error;
      }
    },
  };
}

async function listCampaigns(reader: CampaignReader): Promise<object> {
  try {
    const store = await reader.store();
    const campaigns = (await store.listCampaigns()).slice(0, MAX_CAMPAIGNS);
    const progress = await reader.progress(campaigns);
    return { database: "running", campaigns: campaigns.map((each) => summaryOf(each, progress(each.id))) };
  } catch (error) {
    // For the page that is an answer: it says what to do.
    if (error instanceof NoDatabase) return { database: error.state, message: error.message, campaigns: [] };
    throw error;
  }
}

function summaryOf(
  campaign: Campaign,
  { passed, failed, errors, lastMinute, lastEndedAt }: Progress,
): object {
  const { baseline } = campaign;
  const counts = { calls: passed + failed + errors, passed, failed, errors };
  const passRate = proportionOf(passed, passed + failed);
  return snakeKeys({ ...describe(campaign), baseline, ...counts, passRate, lastMinute, lastEndedAt });
}

async function report(
  reader: CampaignReader,
  id: string,
  named: string | undefined,
): Promise<VendorResponse> {
  const store = await reader.store();
  const read = async (which: string): Promise<TalliedCampaign> => {
    const campaign = await store.readCampaign(which);
    return { campaign, tally: await reader.tally(campaign) };
  };
  const own = await read(id);
  const baseline = named ?? own.campaign.baseline ?? NO_BASELINE;
  const other = baseline === NO_BASELINE ? undefined : await read(baseline);
  return { status: 200, body: toJson(reportOn(own, other)) };
}

function keptBody({
  report: kept,
  trace,
  omitted,
  audioBytes,
}: Awaited<ReturnType<typeof readKept>> & object) {
  return { report: kept, trace, omitted, audio_bytes: audioBytes };
}

async function withCall(
  reader: CampaignReader,
  { params }: VendorRequest,
  answer: (store: CampaignStore, id: string, key: CallKey) => Promise<VendorResponse>,
): Promise<VendorResponse> {
  const { scenario = "", variant = "" } = params;
  const repeat = readRepeat(params.repeat);
  if (repeat === undefined) return notFound("calls are numbered from 1");
  const store = await reader.store();
  const { id } = await store.readCampaign(params.id ?? "");
  return answer(store, id, { scenario, variant, repeat });
}

async function answerAudio(
  { headers }: VendorRequest,
  store: CampaignStore,
  id: string,
  key: CallKey,
): Promise<VendorResponse> {
  const totalBytes = await audioSize(store, id, key);
  if (totalBytes === undefined) return notFound("no sound of this call was kept");
  // What is kept of a call never changes.
  const common = {
    "content-type": "audio/wav",
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=3600",
  };
  const asked = parseRange(headers.range, totalBytes);
  if (asked === "unsatisfiable") {
    return { status: 416, headers: { ...common, "content-range": `bytes */${totalBytes}` } };
  }
  const range = asked === "whole" ? { start: 0, end: totalBytes } : asked;
  const body = await readAudio(store, id, key, range);
  if (asked === "whole") return { status: 200, headers: common, body };
  const contentRange = `bytes ${range.start}-${range.end - 1}/${totalBytes}`;
  return { status: 206, headers: { ...common, "content-range": contentRange }, body };
}

/** `open-incident,json,7`; no name has a comma. */
function cursorOf({ scenario, variant, repeat }: CallKey): string {
  return [scenario, variant, repeat].join(",");
}

function readCursor(text: string, context: z.RefinementCtx): CallKey {
  const [scenario = "", variant = "", number, ...more] = text.split(",");
  const repeat = readRepeat(number);
  if (repeat !== undefined && more.length === 0) return { scenario, variant, repeat };
  context.addIssue({ code: "custom", message: "must be the `next` of the page before" });
  return z.NEVER;
}

const MAX_REPEAT = 1_000_000;

function readRepeat(text = ""): number | undefined {
  const repeat = Number(text);
  return /^\d+$/.test(text) && repeat >= 1 && repeat <= MAX_REPEAT ? repeat : undefined;
}

function notFound(message: string): VendorResponse {
  return errorResponse(404, "not_found", message);
}
