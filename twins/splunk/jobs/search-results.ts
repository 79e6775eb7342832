/** A search over the results of a job. */
import { compilePipeline } from "../spl/compile-pipeline.ts";
import { limit } from "../spl/relation/order.ts";
import type { Relation } from "../spl/relation/relation.ts";
import { type Rows, relationOf } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { Job } from "./job.ts";

export interface Results {
  readonly rows: Rows;
  /** Whether the rows are events. */
  readonly isEvents: boolean;
  /** Where the same rows come from, when they are many: what is searched then, for they would not fit into a statement. */
  readonly relation?: Relation | undefined;
}

/** So many events travel with the search over them. */
const MOST_TRAVELLING = 2_000;

/** Where a job's events come from, unless they are few. */
export function manyEvents(job: Job): Relation | undefined {
  const count = job.rows?.rows.length ?? 0;
  if (!job.isEvents || job.result === undefined || count <= MOST_TRAVELLING) return undefined;
  return limit(job.result, count);
}

/** @returns what it finds, and the search that gives that as a whole. @throws SplError */
export async function searchResults(
  job: Job,
  { rows, isEvents, relation }: Results,
  search: string,
  signal: AbortSignal,
): Promise<{ rows: Rows; pipeline: Pick<Pipeline, "commands"> }> {
  const context = await job.reopened(signal);
  const pipeline = context.parse(search);
  const input = relation ?? relationOf(rows, isEvents ? "events" : "report");
  const searched = await compilePipeline(pipeline, context, input);
  const found = await context.run(searched, context.limits.maxResultRows);
  return { rows: found, pipeline: { commands: [...job.pipeline.commands, ...pipeline.commands] } };
}
