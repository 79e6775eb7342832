/** Where results stand in the rows that the statement of aggregations gives. */
import type { Aggregation } from "./aggregation.ts";

/** Where the answer of an aggregation is in the rows of the statement. */
export type Place =
  | { kind: "metric"; first: number; count: number }
  | { kind: "single"; first: number }
  /** One a condition; their counts and the results in them are columns of the owner. */
  | { kind: "conditions"; buckets: { first: number; places: Places }[] }
  | { kind: "global"; owner: Owner }
  | { kind: "buckets"; owner: Owner }
  | { kind: "hits"; node: number };

/** What has documents: the whole result, or each bucket of an aggregation. */
export interface Owner {
  node: number;
  /** Names of its columns in the rows. */
  columns: string[];
  places: Places;
}

export type Places = Map<Aggregation, Place>;
