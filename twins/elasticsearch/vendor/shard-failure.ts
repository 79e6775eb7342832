/** Mistakes that the vendor finds on a shard: the whole search fails, and the error names the shard. */

import { type ErrorCause, VendorError } from "./error.ts";
import { NODE_ID, uuidOf } from "./node.ts";

/** @param index the first of the indices that were searched */
export function shardFailure(cause: ErrorCause, index: string, status = 400): VendorError {
  const reason = addIndex(cause, index);
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

function addIndex(cause: ErrorCause, index: string): ErrorCause {
  return cause.type === "query_shard_exception" ? { ...cause, index_uuid: uuidOf(index), index } : cause;
}

/** Exception types of the vendor itself; all others that a shard throws are Java's. */
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
 * Finds the root cause as the vendor does: it descends through its own exceptions, and wraps a Java exception in one
 * with the same reason. Source: `ElasticsearchException.guessRootCauses` of 8.15.
 */
function rootOf(cause: ErrorCause): ErrorCause {
  if (!OWN_TYPES.has(cause.type)) return { ...withoutCause(cause), caused_by: cause };
  const { caused_by: inner } = cause;
  // Exceptions of Lucene's query parser share a type name with the vendor's own.
  const isLucene = cause.reason?.startsWith("Failed to parse query") === true;
  return inner && !isLucene && OWN_TYPES.has(inner.type) ? rootOf(inner) : cause;
}

function withoutCause({ caused_by: _, ...root }: ErrorCause): ErrorCause {
  return root;
}

const SHARD_FAILURE = "search_phase_execution_exception";

/** Whether a search failed on its shards and not because of its text. */
export function isShardFailure(error: unknown): error is VendorError {
  return error instanceof VendorError && error.cause.type === SHARD_FAILURE;
}

/** `failures` of an answer in which the shards of some indices failed and others did not. */
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
