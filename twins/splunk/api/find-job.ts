/** Finds jobs for a client, who may see its own and those shared with it. */
import type { Job } from "../jobs/job.ts";
import type { Call, Viewer } from "./call.ts";
import { jobAcl } from "./job-entry.ts";
import { fatal } from "./rest-error.ts";
import { canRead, canWrite, insufficient } from "./rights.ts";

/** @throws RestError 404, or 403 when it is somebody else's */
export function findJob(call: Call): Job {
  const job = call.twin.jobs.find(call.params.sid ?? "");
  if (job?.row === undefined) throw fatal(404, "Unknown sid.");
  if (!canRead(call, jobAcl(job.row))) throw insufficient();
  return job;
}

/** As `findJob`, of a job that is to be changed. */
export function findOwnJob(call: Call): Job {
  const job = findJob(call);
  if (job.row !== undefined && !canWrite(call, jobAcl(job.row))) throw insufficient();
  return job;
}

/** Jobs visible to the caller. */
export function visibleJobs(viewer: Viewer): Job[] {
  return viewer.twin.jobs.list().filter(({ row }) => row !== undefined && canRead(viewer, jobAcl(row)));
}
