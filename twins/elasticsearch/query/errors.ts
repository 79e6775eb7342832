/** The errors of the Query DSL, as the vendor words them. */
import { type ErrorCause, VendorError } from "../vendor/error.ts";

/** A top-level shape that the compiler does not know. A translator may know it; without one this error is the answer. */
export class UnrecognisedQuery extends VendorError {
  /** The query, as its JSON was read. */
  readonly json: unknown;

  /** @param error the vendor's answer */
  constructor(error: VendorError, json: unknown) {
    super(error.status, error.cause, error.rootCause);
    this.name = "UnrecognisedQuery";
    this.json = json;
  }
}

/** A query that the vendor answers and this twin does not support. */
export class UnservedError extends VendorError {
  constructor(reason: string) {
    super(400, { type: "illegal_argument_exception", reason });
    this.name = "UnservedError";
  }
}

/** A shard cannot answer the query, though its syntax is right. `compileQuery` adds the index. */
export class ShardError extends VendorError {
  constructor(cause: ErrorCause) {
    super(400, cause);
    this.name = "ShardError";
  }
}

/** `query_shard_exception`: the query does not fit the fields, so every shard fails, and the search with them. */
export function shardError(reason: string, causedBy?: ErrorCause): VendorError {
  return new ShardError({
    type: "query_shard_exception",
    reason,
    ...(causedBy && { caused_by: causedBy }),
  });
}

/** A value that its field's type cannot hold. */
export function conversionError(
  reason: string,
  type = "number_format_exception",
  causedBy?: ErrorCause,
): VendorError {
  const cause = { type, reason, ...(causedBy && { caused_by: causedBy }) };
  return shardError(`failed to create query: ${reason}`, cause);
}

/** More clauses than a query may have. */
export function tooManyClauses(limit: number): VendorError {
  return new VendorError(400, {
    type: "too_many_nested_clauses",
    reason: `Query contains too many nested clauses; maxClauseCount is set to ${limit}`,
  });
}
