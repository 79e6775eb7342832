/** Where results are in the rows of the statement. */
import type { Aggregation } from "./aggregation.ts";

/** The location of an aggregation's values in the rows. */
export type Place =
  | { kind: "metric"; first: number; count: number }
  | { kind: "single"; first: number }
  /** One for each condition; counts and sub-aggregations are columns of the owner. */
  | { kind: "conditions"; buckets: { first: number; places: Places }[] }
  | { kind: "global"; owner: Owner }
  | { kind: "buckets"; owner: Owner }
  | { kind: "hits"; node: number };

/** Something with documents: the whole result, or the buckets of an aggregation. */
export interface Owner {
  node: number;
  /** Its column names in the rows. */
  columns: string[];
  places: Places;
}

export type Places = Map<Aggregation, Place>;
