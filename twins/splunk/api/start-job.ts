/** Starts searches for a client, and words why one cannot start. */
import type { Job } from "../jobs/job.ts";
import { DiskQuotaReached, MAX_RUNNING, TooManySearches } from "../jobs/job-book.ts";
import type { JobRequest } from "../jobs/job-request.ts";
import type { Call } from "./call.ts";
import { RestError } from "./rest-error.ts";

/** Starts a job that its client waits for: refused instead of queued at the owner's quota. @throws RestError 503 */
export function startJobNow(call: Call, request: JobRequest): Job {
  const { owner, quota } = request;
  const running = call.twin.jobs.countRunning(owner);
  if (quota > 0 && running >= quota) {
    const what = "for this user based on their role quota";
    throw concurrencyError(what, "user_instance-wide", running, quota);
  }
  return startJob(call, request);
}

/** Starts a job. @throws RestError 503 when too many jobs are waiting, or the disk quota is used up */
export function startJob(call: Call, request: JobRequest): Job {
  try {
    const job = call.twin.jobs.start(request);
    call.notes.sid = job.sid;
    return job;
  } catch (error) {
    if (error instanceof DiskQuotaReached) throw diskQuotaError(request, error);
    if (!(error instanceof TooManySearches)) throw error;
    throw concurrencyError("on this instance", "instance-wide", MAX_RUNNING, MAX_RUNNING);
  }
}

function diskQuotaError({ owner, diskQuotaMb = 0 }: JobRequest, { usedMb }: DiskQuotaReached): RestError {
  const what = `the role-based disk usage quota of search artifacts for user "${owner}" has been reached (usage=${usedMb}MB, quota=${diskQuotaMb}MB)`;
  const remedy =
    "Use the [[/app/search/job_manager|Job Manager]] to delete some of your search artifacts, or ask your Splunk administrator to increase the disk quota of search artifacts for your role in authorize.conf.";
  const text = `Search not executed: This search could not be dispatched because ${what}. ${remedy}`;
  return new RestError(503, [{ type: "WARN", text }]);
}

function concurrencyError(what: string, context: string, current: number, limit: number): RestError {
  const reason = `The maximum number of concurrent historical searches ${what} has been reached.`;
  const figures = `concurrency_category="historical", concurrency_context="${context}", current_concurrency=${current}, concurrency_limit=${limit}`;
  return new RestError(503, [{ type: "WARN", text: `Search not executed: ${reason}, ${figures}` }]);
}
