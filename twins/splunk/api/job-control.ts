/** Controls a search job: pause, finalize, cancel, time to live. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Job } from "../jobs/job.ts";
import { DEFAULT_TTL_S, SAVED_TTL_S } from "../jobs/job-request.ts";
import { MAX_TTL_S } from "../saved/run-request.ts";
import type { Call } from "./call.ts";
import { findWritableJob } from "./find-job.ts";
import { messagesResponse } from "./messages.ts";
import { dispatcherError, RestError } from "./rest-error.ts";
import { checkCapability } from "./rights.ts";
import { route } from "./route.ts";

/** Control actions by name; each returns its message. */
const actions = lookupTable<(job: Job, call: Call) => string>({
  cancel(job, { twin }) {
    twin.jobs.remove(job.sid);
    return "Search job cancelled.";
  },
  disablepreview(job) {
    job.previews = false;
    return "Search job results preview disabled.";
  },
  enablepreview(job) {
    job.previews = true;
    return "Search job results preview enabled.";
  },
  finalize(job) {
    job.finalize();
    return "Search job finalized.";
  },
  pause(job) {
    job.pause();
    return "Search job paused.";
  },
  save(job, call) {
    setTtl(job, call, SAVED_TTL_S, { saved: true });
    return "Search job saved.";
  },
  setpriority(job, { arguments: given, twin }) {
    const priority = given.text("priority");
    if (priority === undefined) {
      throw dispatcherError(400, "You are missing the priority for the set priority action.");
    }
    if (!/^(10|\d)$/.test(priority)) {
      throw dispatcherError(400, "The priority should be in the following range: [0-10].");
    }
    twin.tables.table("jobs").update(job.sid, { priority: Number(priority) });
    return `The search job's priority was changed to ${priority}.`;
  },
  setttl(job, call) {
    const ttl = call.arguments.text("ttl");
    if (ttl === undefined) throw dispatcherError(400, "You are missing the ttl argument for the ttl action.");
    if (!/^\d{1,9}$/.test(ttl)) throw dispatcherError(400, `The ttl should be a positive integer: ${ttl}.`);
    const seconds = Math.min(Number(ttl), MAX_TTL_S);
    setTtl(job, call, seconds, {});
    return ttlMessage(seconds);
  },
  setworkloadpool(_job, call) {
    checkCapability(call, "edit_workload_pools");
    throw dispatcherError(400, "Workload management is not enabled on this instance.");
  },
  touch(job, call) {
    setTtl(job, call, job.row?.ttl_s ?? DEFAULT_TTL_S, {});
    return "Search job touched.";
  },
  unpause(job) {
    job.unpause();
    return "Search job continued.";
  },
  unsave(job, call) {
    setTtl(job, call, job.request.ttlS, { saved: false });
    return "Search job unsaved.";
  },
});

function ttlMessage(seconds: number): string {
  return `The ttl of the search job was changed to ${seconds}.`;
}

/** Sets the time to live, counted from now. */
function setTtl(job: Job, { twin }: Call, seconds: number, changes: { saved?: boolean }): void {
  const expires_at = new Date(twin.clock.now() + seconds * 1000).toISOString();
  twin.tables.table("jobs").update(job.sid, { ...changes, ttl_s: seconds, expires_at });
}

/** Refuses other methods, after looking for the job. @throws RestError 404, 403, 405 */
function refuseMethod(call: Call): never {
  findWritableJob(call);
  throw new RestError(405, [{ type: "FATAL", text: "Method Not Allowed" }], { allow: "POST" });
}

const otherMethods = (["GET", "DELETE"] as const).flatMap((method) =>
  route({
    id: "job.control",
    method,
    path: "/search/jobs/:sid/control",
    capability: "search",
    v2: true,
    summary: "Refused: a search job is controlled with a POST.",
    handle: refuseMethod,
  }),
);

const controlOperations = route({
  id: "job.control",
  method: "POST",
  path: "/search/jobs/:sid/control",
  capability: "search",
  v2: true,
  summary: "Pause, end, keep or otherwise control a search job.",
  handle(call) {
    const job = findWritableJob(call);
    const action = call.arguments.text("action");
    if (action === undefined) throw dispatcherError(400, "Missing action.");
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (act === undefined) throw dispatcherError(400, "Unknown action.");
    return messagesResponse(200, [{ type: "INFO", text: act(job, call) }], call.mode);
  },
});

export const jobControlOperations = [...controlOperations, ...otherMethods];
