/** What an export shows of a search that goes on. */
import { setTimeout as pause } from "node:timers/promises";
import { wholeNumber } from "../conf/values.ts";
import type { Job } from "../jobs/job.ts";
import { canPreview, type Preview, previewOf } from "../jobs/preview.ts";
import type { RowOutlet } from "../jobs/row-outlet.ts";
import { stanza } from "../world/stanza.ts";
import type { Call } from "./call.ts";
import type { ResultArguments } from "./result-arguments.ts";

/** The newest events that one preview after the other is of, and the rows that each shows. */
const growing = [1_000, 10_000, 100_000, 1_000_000];
const MOST_ROWS = 1_000;

/** Whether there are any: unless `preview` is off, in the forms that tell a preview from a result. */
export function wantsPreviews(call: Call, job: Job, { mode }: ResultArguments): boolean {
  return mode !== "csv" && mode !== "raw" && call.arguments.flag("preview", true) && canPreview(job.pipeline);
}

/** Resolves when there are results, or the search has gone on for the shortest time between two previews. */
export async function untilPreview(call: Call, outlet: RowOutlet): Promise<void> {
  const { min_preview_period } = stanza(call.twin.tables, "limits/search");
  const over = new AbortController();
  const period = pause(wholeNumber(min_preview_period, 1) * 1000, undefined, { signal: over.signal });
  try {
    await Promise.race([outlet.begun, period.catch(() => {})]);
  } finally {
    over.abort();
  }
}

/** One preview after the other, until there are results or no more to show. */
export async function* previews(call: Call, job: Job, outlet: RowOutlet): AsyncGenerator<Preview> {
  let shown = 0;
  for (const mostEvents of growing) {
    if (outlet.hasBegun || job.isOver) return;
    const ended = new AbortController();
    const end = () => ended.abort();
    void outlet.begun.then(end);
    call.request.signal.addEventListener("abort", end, { once: true });
    try {
      const preview = await previewOf(job, mostEvents, MOST_ROWS, ended.signal);
      if (outlet.hasBegun || job.isOver) return;
      // More events make a report another one; of events there are more or no others.
      if (!preview.isEvents || preview.rows.rows.length > shown) yield preview;
      shown = preview.rows.rows.length;
    } catch {
      // The search is over, or what is wrong with it is said by its own end.
      return;
    } finally {
      call.request.signal.removeEventListener("abort", end);
    }
    await untilPreview(call, outlet);
  }
}
