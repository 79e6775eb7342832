/** Answers of document routes: written, found and refused documents. */
import type { Done } from "../documents/action.ts";
import type { StoredDocument } from "../documents/stored.ts";
import { filterSource, type SourceFilter } from "../search/source-filter.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { writeShards } from "../vendor/node.ts";

/** @param refresh the URL parameter */
export function doneBody({ index, id, version, seqNo, result }: Done, refresh: string | undefined) {
  const refreshes = result !== "noop" && (refresh === "" || refresh === "true");
  return {
    _index: index,
    _id: id,
    _version: version,
    result,
    ...(refreshes ? { forced_refresh: true } : {}),
    _shards: result === "noop" ? { total: 0, successful: 0, failed: 0 } : writeShards,
    _seq_no: seqNo,
    _primary_term: 1,
  };
}

/** The part of an answer that shows a found document. */
export function gotBody({ seqNo, source }: { seqNo: number; source: string }, filter: SourceFilter) {
  return { _seq_no: seqNo, _primary_term: 1, found: true, _source: filterSource(source, filter) };
}

/** A found document with its index, id and version. */
export function foundBody(document: StoredDocument, filter: SourceFilter) {
  const { index, id, version } = document;
  return { _index: index, _id: id, _version: version, ...gotBody(document, filter) };
}

/** The twin has no ingest pipelines. @throws VendorError for any that is named */
export function checkPipeline(pipeline: string | undefined): void {
  if (pipeline === undefined || pipeline === "" || pipeline === "_none") return;
  throw illegalArgument(`pipeline with id [${pipeline}] does not exist`);
}

/** `require_alias` fails for every name that is no alias. */
export function requireAliasError(index: string): VendorError {
  return new VendorError(404, {
    type: "index_not_found_exception",
    reason: `no such index [${index}] and [require_alias] request flag is [true] and [${index}] is not an alias`,
    index_uuid: "_na_",
    index,
  });
}
