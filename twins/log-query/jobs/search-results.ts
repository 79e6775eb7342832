/** A search over the results of a job. */
import { compilePipeline } from "../spl/compile-pipeline.ts";
import { type Rows, relationOf } from "../spl/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { Job } from "./job.ts";

export interface Results {
  readonly rows: Rows;
  /** Whether the rows are events. */
  readonly isEvents: boolean;
}

/** @returns what it finds, and the search that gives that as a whole. @throws SplError */
export async function searchResults(
  job: Job,
  { rows, isEvents }: Results,
  search: string,
  signal: AbortSignal,
): Promise<{ rows: Rows; pipeline: Pick<Pipeline, "commands"> }> {
  const context = await job.reopened(signal);
  const pipeline = context.parse(search);
  const relation = await compilePipeline(pipeline, context, relationOf(rows, isEvents ? "events" : "report"));
  const found = await context.run(relation, context.limits.maxResultRows);
  return { rows: found, pipeline: { commands: [...job.pipeline.commands, ...pipeline.commands] } };
}
