/** The vendor's errors for failed writes. */
import type { UnfitValue } from "@offhook/log-store/store/log-store";
import { readExactJson } from "../json/read.ts";
import { javaText } from "../json/token.ts";
import { type ErrorCause, VendorError } from "../vendor/error.ts";
import { uuidOf } from "../vendor/node.ts";

export function versionConflict(index: string, id: string, why: string): VendorError {
  return inShard(409, index, "version_conflict_engine_exception", `[${id}]: version conflict, ${why}`);
}

export function documentMissing(index: string, id: string): VendorError {
  return inShard(404, index, "document_missing_exception", `[${id}]: document missing`);
}

function inShard(status: number, index: string, type: string, reason: string): VendorError {
  return new VendorError(status, { type, reason, index_uuid: uuidOf(index), shard: "0", index });
}

/**
 * The disk is full: the vendor's index is then read-only until there is space.
 * @param index absent if unknown
 */
export function indexBlocked(index?: string): VendorError {
  const block =
    "[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];";
  return new VendorError(429, {
    type: "cluster_block_exception",
    reason: index === undefined ? `blocked by: ${block}` : `index [${index}] blocked by: ${block}`,
  });
}

/** A document that is not a JSON object. @param at line and column */
export function unparsable(reason: string, at = "1:1", caused_by?: ErrorCause): VendorError {
  return new VendorError(400, {
    type: "document_parsing_exception",
    reason: `[${at}] failed to parse: ${reason}`,
    ...(caused_by ? { caused_by } : {}),
  });
}

/** The cause when no date format matches. */
const noParser: ErrorCause = {
  type: "date_time_parse_exception",
  reason: "Failed to parse with all enclosed parsers",
};
const MAX_PREVIEW_CHARS = 100;

/** The error for a document that does not fit the mapping. */
export function unfitDocument(misfit: UnfitValue, id: string): VendorError {
  const { kind, field, type, value, reason, line, column } = misfit;
  const at = `[${line}:${column}]`;
  switch (kind) {
    case "malformed_json":
      return unparsable(reason, `${line}:${column}`);
    case "too_many_fields":
    case "mapping_conflict":
    case "too_deep":
    case "bad_field_name":
      return new VendorError(400, { type: "illegal_argument_exception", reason });
    case "strict":
      return new VendorError(400, { type: "strict_dynamic_mapping_exception", reason: `${at} ${reason}` });
    case "metadata_field":
      return new VendorError(400, {
        type: "document_parsing_exception",
        reason: `${at} Field [${field}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`,
      });
    case "value_for_object":
      return new VendorError(400, {
        type: "document_parsing_exception",
        reason: `${at} object mapping for [${field}] tried to parse field [${field}] as object, but found a concrete value`,
      });
    default: {
      const preview = (value === "" ? "" : javaText(readExactJson(value))).slice(0, MAX_PREVIEW_CHARS);
      return new VendorError(400, {
        type: "document_parsing_exception",
        reason: `${at} failed to parse field [${field}] of type [${type}] in document with id '${id}'. Preview of field's value: '${preview}'`,
        caused_by: {
          type: "illegal_argument_exception",
          reason,
          ...(kind === "not_a_date" ? { caused_by: noParser } : {}),
        },
      });
    }
  }
}

/** @param problems one sentence each */
export function invalidRequest(problems: readonly string[]): VendorError {
  const listed = problems.map((problem, index) => `${index + 1}: ${problem};`).join("");
  return new VendorError(400, {
    type: "action_request_validation_exception",
    reason: `Validation Failed: ${listed}`,
  });
}
