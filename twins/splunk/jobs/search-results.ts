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
  /** The relation behind the rows; searched in their place when they are too many to be parameters of a statement. */
  readonly relation?: Relation | undefined;
}

/** Maximum of events to pass as parameters of a search over them. */
const MAX_INLINE_EVENTS = 2_000;

/** The relation of a job's events when these exceed `MAX_INLINE_EVENTS`. */
export function largeResultRelation(job: Job): Relation | undefined {
  const count = job.rows?.rows.length ?? 0;
  if (!job.isEvents || job.result === undefined || count <= MAX_INLINE_EVENTS) return undefined;
  return limit(job.result, count);
}

/** @returns the rows found, and the pipeline of both searches together. @throws SplError */
export async function searchResults(
  job: Job,
  { rows, isEvents, relation }: Results,
  search: string,
  signal: AbortSignal,
): Promise<{ rows: Rows; pipeline: Pick<Pipeline, "commands"> }> {
  const context = await job.openContext(signal);
  const pipeline = context.parse(search);
  const input = relation ?? relationOf(rows, isEvents ? "events" : "report");
  const searched = await compilePipeline(pipeline, context, input);
  const found = await context.run(searched, context.limits.maxResultRows);
  return { rows: found, pipeline: { commands: [...job.pipeline.commands, ...pipeline.commands] } };
}
