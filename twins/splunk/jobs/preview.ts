/** What a search that goes on would answer if there were only the newest events: all of it is searched again, over these. */
import { limit } from "../spl/relation/order.ts";
import { noRows } from "../spl/relation/relation.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { compileSearch } from "./compile-search.ts";
import { withAddresses } from "./event-address.ts";
import type { Job } from "./job.ts";
import { narrowed } from "./narrowed.ts";
import { withLevel } from "./search-level.ts";

export interface Preview {
  readonly rows: Rows;
  readonly isEvents: boolean;
}

/** What these do would be done again, or is not made of the events. */
const unrepeatable: ReadonlySet<string> = new Set([
  ...["collect", "from", "loadjob", "map", "outputlookup", "rest", "savedsearch"],
]);

/** Whether there can be a preview: of a search of events, without subsearches, that changes nothing. */
export function canPreview({ commands }: Pick<Pipeline, "commands">): boolean {
  if (commands[0]?.name !== "search") return false;
  return commands.every(({ name, rawArgs }) => !unrepeatable.has(name) && !rawArgs.includes("["));
}

/** @param mostEvents the newest events that it is of */
export async function previewOf(
  job: Job,
  mostEvents: number,
  mostRows: number,
  signal: AbortSignal,
): Promise<Preview> {
  const none = { rows: { fields: noRows.columns, rows: [] }, isEvents: false };
  if (!canPreview(job.pipeline)) return none;
  const context = await job.reopened(signal);
  const { result, scanned } = await compileSearch(job.pipeline, context, {
    before: async () => signal.throwIfAborted(),
    narrow: (found) => limit(narrowed(found, job.options), mostEvents),
  });
  const shown = withAddresses(withLevel(result, scanned, job.pipeline, job.options), job.pipeline);
  job.previewed();
  return {
    rows: await context.run(limit(shown, mostRows), mostRows),
    isEvents: shown.kind === "events",
  };
}
