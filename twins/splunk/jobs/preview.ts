/** Previews of a running search: the whole search again, over the newest events only. */
import { limit } from "../spl/relation/order.ts";
import { noRows } from "../spl/relation/relation.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { compileSearch, narrowEvents } from "./compile-search.ts";
import { addEventAddresses } from "./event-address.ts";
import type { Job } from "./job.ts";
import { applySearchLevel } from "./search-level.ts";

export interface Preview {
  readonly rows: Rows;
  readonly isEvents: boolean;
}

/** Commands that change something, or that do not work on the search's own events. */
const unrepeatable: ReadonlySet<string> = new Set([
  ...["collect", "from", "loadjob", "map", "outputlookup", "rest", "savedsearch"],
]);

/** Whether the search can run again over fewer events: an event search without subsearches that changes nothing. */
export function canPreview({ commands }: Pick<Pipeline, "commands">): boolean {
  if (commands[0]?.name !== "search") return false;
  return commands.every(({ name, rawArgs }) => !unrepeatable.has(name) && !rawArgs.includes("["));
}

/** @param maxEvents how many of the newest events the preview searches */
export async function computePreview(
  job: Job,
  maxEvents: number,
  maxRows: number,
  signal: AbortSignal,
): Promise<Preview> {
  const none = { rows: { fields: noRows.columns, rows: [] }, isEvents: false };
  if (!canPreview(job.pipeline)) return none;
  const context = await job.openContext(signal);
  const { result, scanned } = await compileSearch(job.pipeline, context, {
    before: async () => signal.throwIfAborted(),
    narrow: (found) => limit(narrowEvents(found, job.options), maxEvents),
  });
  const shown = addEventAddresses(applySearchLevel(result, scanned, job.pipeline, job.options), job.pipeline);
  job.countPreview();
  return {
    rows: await context.run(limit(shown, maxRows), maxRows),
    isEvents: shown.kind === "events",
  };
}
