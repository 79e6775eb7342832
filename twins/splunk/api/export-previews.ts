/** Previews of a running search in an export. */
import { setTimeout as pause } from "node:timers/promises";
import { wholeNumber } from "../conf/values.ts";
import type { Job } from "../jobs/job.ts";
import { canPreview, computePreview, type Preview } from "../jobs/preview.ts";
import type { RowStream } from "../jobs/row-stream.ts";
import { readStanza } from "../world/stanza.ts";
import type { Call } from "./call.ts";
import type { ResultArguments } from "./result-arguments.ts";

/** How many of the newest events each preview in turn covers, and how many rows it shows. */
const EVENTS_PER_PREVIEW = [1_000, 10_000, 100_000, 1_000_000];
const MAX_ROWS = 1_000;

/** Whether the export has previews: with `preview` on, in output modes that mark a preview as one. */
export function wantsPreviews(call: Call, job: Job, { mode }: ResultArguments): boolean {
  return mode !== "csv" && mode !== "raw" && call.arguments.flag("preview", true) && canPreview(job.pipeline);
}

/** Waits for the first results, at most for `min_preview_period`. */
export async function waitForPreview(call: Call, stream: RowStream): Promise<void> {
  const { min_preview_period } = readStanza(call.twin.tables, "limits/search");
  const over = new AbortController();
  const period = pause(wholeNumber(min_preview_period, 1) * 1000, undefined, { signal: over.signal });
  try {
    await Promise.race([stream.started, period.catch(() => {})]);
  } finally {
    over.abort();
  }
}

/** Yields previews until the results come. */
export async function* previews(call: Call, job: Job, stream: RowStream): AsyncGenerator<Preview> {
  let shownRows = 0;
  for (const maxEvents of EVENTS_PER_PREVIEW) {
    if (stream.hasStarted || job.isOver) return;
    const ended = new AbortController();
    const end = () => ended.abort();
    void stream.started.then(end);
    call.request.signal.addEventListener("abort", end, { once: true });
    try {
      const preview = await computePreview(job, maxEvents, MAX_ROWS, ended.signal);
      if (stream.hasStarted || job.isOver) return;
      // A report changes with new events; an event list only grows.
      if (!preview.isEvents || preview.rows.rows.length > shownRows) yield preview;
      shownRows = preview.rows.rows.length;
    } catch {
      // The search has ended; its results carry any error.
      return;
    } finally {
      call.request.signal.removeEventListener("abort", end);
    }
    await waitForPreview(call, stream);
  }
}
