/** A mistake that the vendor finds when a shard is asked: the whole search fails, and says on which shard. */

import { type ErrorCause, VendorError } from "./error.ts";
import { NODE_ID, uuidOf } from "./node.ts";

/** @param index the first of the indices that were searched */
export function shardFailure(cause: ErrorCause, index: string, status = 400): VendorError {
  const reason = placed(cause, index);
  const root = rootOf(reason);
  return new VendorError(
    status,
    {
      type: SHARD_FAILURE,
      reason: "all shards failed",
      phase: "query",
      grouped: true,
      failed_shards: [{ shard: 0, index, node: NODE_ID, reason }],
      ...(root !== reason && { caused_by: root }),
    },
    withoutCause(root),
  );
}

function placed(cause: ErrorCause, index: string): ErrorCause {
  return cause.type === "query_shard_exception" ? { ...cause, index_uuid: uuidOf(index), index } : cause;
}

/** Exceptions of the vendor's own that a shard throws; all others are Java's. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  "exception",
  "invalid_path",
  "parse_exception",
  "parsing_exception",
  "query_shard_exception",
  "search_exception",
  "too_many_buckets_exception",
]);

/**
 * What the vendor takes for the root: it goes inwards through its own exceptions, and wraps one of Java's in one that says the
 * same. Source: `ElasticsearchException.guessRootCauses` of 8.15.
 */
function rootOf(cause: ErrorCause): ErrorCause {
  if (!OWN_TYPES.has(cause.type)) return { ...withoutCause(cause), caused_by: cause };
  const { caused_by: inner } = cause;
  // What Lucene's parser of queries throws is called as the vendor's own is.
  const isLucene = cause.reason?.startsWith("Failed to parse query") === true;
  return inner && !isLucene && OWN_TYPES.has(inner.type) ? rootOf(inner) : cause;
}

function withoutCause({ caused_by: _, ...root }: ErrorCause): ErrorCause {
  return root;
}

const SHARD_FAILURE = "search_phase_execution_exception";

/** Whether a search failed on its shards, not by its text. */
export function isShardFailure(error: unknown): error is VendorError {
  return error instanceof VendorError && error.cause.type === SHARD_FAILURE;
}

/** What an answer says of the shards of an index that failed while others did not. */
export function shardFailures(names: readonly string[], { rootCause, cause }: VendorError): object[] {
  const root = rootCause ?? cause;
  return names.map((index) => {
    const reason = "index" in root ? { ...root, index, index_uuid: uuidOf(index) } : root;
    return { shard: 0, index, node: NODE_ID, reason };
  });
}

export function illegalOnShard(reason: string, index: string): VendorError {
  return shardFailure({ type: "illegal_argument_exception", reason }, index);
}
