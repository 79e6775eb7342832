/** Search jobs: start, list, show and cancel them. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import type { Job } from "../jobs/job.ts";
import type { Entry } from "../output/entry.ts";
import type { Call, Viewer } from "./call.ts";
import { type Collection, feedOf } from "./collection.ts";
import { documentResponse, feedResponse, pageOf } from "./entries.ts";
import { findJob, findWritableJob, visibleJobs } from "./find-job.ts";
import { readExecMode, readJobRequest } from "./job-arguments.ts";
import { jobEntry } from "./job-entry.ts";
import { checkJobParameters } from "./job-parameters.ts";
import { oneshotResponse } from "./job-results.ts";
import { fieldsResponse, messagesResponse } from "./messages.ts";
import { segmentOf } from "./name-segment.ts";
import { outputModes } from "./output-mode.ts";
import { dispatcherError, RestError } from "./rest-error.ts";
import { route } from "./route.ts";
import { startJob, startJobNow } from "./start-job.ts";

const PATH = "/search/jobs";

/** Responds with the sid of a started job. */
export function startedResponse(call: Call, sid: string): VendorResponse {
  const response = fieldsResponse(201, { sid }, call.mode);
  return {
    ...response,
    headers: { ...response.headers, location: `/services/search/jobs/${segmentOf(sid)}` },
  };
}

function placeOfJobs({ request }: Call): string {
  return request.path.includes("/search/v2/") ? "/services/search/v2/jobs" : "/services/search/jobs";
}

async function entryOf(call: Call, job: Job) {
  const counts = await job.countEvents();
  const row = job.row;
  if (row === undefined) throw dispatcherError(404, "Unknown sid.");
  return jobEntry(placeOfJobs(call), job, row, counts, call.twin.timeZone, call.twin.clock.now());
}

/** Output modes of jobs, and those of results, which have an error of their own. */
const modes = ["atom", ...outputModes] as const;

/** @throws RestError 400 */
function checkEntryMode({ mode }: Call): void {
  if (mode === "json_rows" || mode === "json_cols") throw dispatcherError(400, "Invalid output_mode.");
  if (mode !== "csv" && mode !== "raw") return;
  throw new RestError(400, [
    { type: "WARN", text: `Output mode '${mode}' is not supported for this endpoint.` },
  ]);
}

async function jobResponse(call: Call, job: Job): Promise<VendorResponse> {
  checkEntryMode(call);
  const paging = { total: 1, perPage: 30, offset: 0 };
  return documentResponse(call, await entryOf(call, job), { ...feedOf(call, "jobs", PATH, {}), paging });
}

function jobEntries(viewer: Viewer, place: string): Entry[] {
  const { timeZone, clock } = viewer.twin;
  return visibleJobs(viewer).flatMap((job) =>
    job.row ? [jobEntry(place, job, job.row, undefined, timeZone, clock.now())] : [],
  );
}

export const jobCollection: Collection = {
  title: "jobs",
  path: PATH,
  entries: (viewer) => jobEntries(viewer, "/services/search/jobs"),
};

export const jobOperations = [
  ...route({
    id: "job.create",
    method: "POST",
    path: PATH,
    capability: "search",
    v2: true,
    modes,
    summary: "Start a search.",
    async handle(call) {
      const execMode = readExecMode(call.arguments);
      if (execMode !== "oneshot") checkEntryMode(call);
      const unknown = checkJobParameters(call);
      const request = readJobRequest(call);
      const seconds = call.arguments.integer("reuse_max_seconds_ago", 0);
      const reusable =
        seconds > 0 && execMode !== "oneshot" ? call.twin.jobs.findReusable(request, seconds) : undefined;
      const start = execMode === "normal" ? startJob : startJobNow;
      const job = reusable ?? start(call, request);
      for (const name of unknown)
        job.notes.note("DispatchManager", `argument ${name} is unknown: it has no effect`, "WARN");
      if (execMode === "normal") return startedResponse(call, job.sid);
      const cleanUp = () => {
        if (reusable === undefined) call.twin.jobs.remove(job.sid);
      };
      call.request.signal.addEventListener("abort", cleanUp, { once: true });
      await job.done;
      call.request.signal.removeEventListener("abort", cleanUp);
      if (execMode === "blocking") return startedResponse(call, job.sid);
      try {
        return await oneshotResponse(call, job);
      } finally {
        cleanUp();
      }
    },
  }),
  ...route({
    id: "job.list",
    method: "GET",
    path: PATH,
    capability: "search",
    v2: true,
    modes,
    summary: "List the search jobs.",
    async handle(call) {
      checkEntryMode(call);
      if (call.arguments.all("sort_dir").length > call.arguments.all("sort_key").length) {
        throw dispatcherError(400, "Number of sort_key and sort_dir arguments do not match.");
      }
      const all = jobEntries(call, placeOfJobs(call));
      const { messages: _, ...feed } = feedOf(call, "jobs", PATH, {});
      return feedResponse(call, { ...feed, ...pageOf(call, all, "given") });
    },
  }),
  ...route({
    id: "job.get",
    method: "GET",
    path: `${PATH}/:sid`,
    capability: "search",
    v2: true,
    modes,
    summary: "Show a search job.",
    handle: (call) => jobResponse(call, findJob(call)),
  }),
  ...route({
    id: "job.update",
    method: "POST",
    path: `${PATH}/:sid`,
    capability: "search",
    v2: true,
    modes,
    summary: "Set custom properties of a search job.",
    handle(call) {
      const job = findWritableJob(call);
      const given = Object.entries(call.arguments.toObject());
      const custom = Object.fromEntries(given.filter(([name]) => name.startsWith("custom.")));
      const request = { ...job.row?.request, ...custom };
      call.twin.tables.table("jobs").update(job.sid, { request });
      return jobResponse(call, job);
    },
  }),
  ...route({
    id: "job.delete",
    method: "DELETE",
    path: `${PATH}/:sid`,
    capability: "search",
    v2: true,
    summary: "Cancel a search job and forget its results.",
    handle(call) {
      call.twin.jobs.remove(findWritableJob(call).sid);
      return messagesResponse(200, [{ type: "INFO", text: "Search job cancelled." }], call.mode);
    },
  }),
  ...route({
    id: "job.log",
    method: "GET",
    path: `${PATH}/:sid/search.log`,
    capability: "search",
    v2: true,
    modes: ["raw", ...outputModes],
    summary: "Show the log of a search job.",
    handle(call) {
      const lines = findJob(call).notes.lines.map(({ atMs, level, component, text }) => {
        const [date = "", time = ""] = new Date(atMs).toISOString().split(/[TZ]/);
        const [year, month, day] = date.split("-");
        const oneLine = text.replaceAll("\n", "\\n");
        return `${month}-${day}-${year} ${time} +0000 ${level.padEnd(5)} ${component} - ${oneLine}\n`;
      });
      return { status: 200, headers: { "content-type": "text/plain; charset=UTF-8" }, body: lines.join("") };
    },
  }),
];
