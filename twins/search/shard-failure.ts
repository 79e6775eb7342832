/** A mistake that the vendor finds when a shard is asked: the whole search fails, and says on which shard. */
import { NODE_ID, uuidOf } from "./node.ts";
import { type ErrorCause, VendorError } from "./vendor-error.ts";

/** @param index the first of the indices that were searched */
export function shardFailure(cause: ErrorCause, index: string, status = 400): VendorError {
  const reason =
    cause.type === "query_shard_exception" ? { ...cause, index_uuid: uuidOf(index), index } : cause;
  const { caused_by: _, ...root } = reason;
  return new VendorError(
    status,
    {
      type: SHARD_FAILURE,
      reason: "all shards failed",
      phase: "query",
      grouped: true,
      failed_shards: [{ shard: 0, index, node: NODE_ID, reason }],
      ...(ownErrors.has(cause.type) ? {} : { caused_by: { ...root, caused_by: root } }),
    },
    root,
  );
}

/** The vendor's own exceptions need no cause beside the failed shard; those of the language are told again. */
const ownErrors = new Set([
  "query_shard_exception",
  "parse_exception",
  "invalid_path",
  "too_many_buckets_exception",
]);

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
