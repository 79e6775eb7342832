/** Finds jobs for a client, who may see its own and those shared with it. */
import type { Job } from "../jobs/job.ts";
import type { Call, Viewer } from "./call.ts";
import { jobAcl } from "./job-entry.ts";
import { dispatcherError } from "./rest-error.ts";
import { canRead, canWrite, insufficientPermission } from "./rights.ts";

/** Finds the job of a call. @throws RestError 404, or 403 when the caller may not read it */
export function findJob(call: Call): Job {
  const job = call.twin.jobs.find(call.params.sid ?? "");
  if (job?.row === undefined) throw dispatcherError(404, "Unknown sid.");
  if (!canRead(call, jobAcl(job.row))) throw insufficientPermission();
  return job;
}

/** Like `findJob`, for a job to change. */
export function findWritableJob(call: Call): Job {
  const job = findJob(call);
  if (job.row !== undefined && !canWrite(call, jobAcl(job.row))) throw insufficientPermission();
  return job;
}

/** Jobs visible to the caller. */
export function visibleJobs(viewer: Viewer): Job[] {
  return viewer.twin.jobs.list().filter(({ row }) => row !== undefined && canRead(viewer, jobAcl(row)));
}
