/** Reads the body of an update: a partial document, and its upsert. */

import { type ExactJson, NumberText, readExactJson } from "../json/read.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import type { UpdateAction } from "./action.ts";
import { invalidRequest } from "./errors.ts";

type Members = Map<string, ExactJson>;

export interface UpdateBody extends Pick<UpdateAction, "doc" | "upsert" | "detectNoop"> {
  /** The source filter of the answer. */
  source: ExactJson | undefined;
  ifSeqNo?: number;
  ifPrimaryTerm?: number;
}

/** @throws VendorError */
export function readUpdateBody(text: string): UpdateBody {
  const json = text.trim() === "" ? new Map<string, ExactJson>() : readExactJson(text);
  if (!(json instanceof Map))
    throw parsingError("[UpdateRequest] Expected START_OBJECT but was: START_ARRAY");
  for (const name of json.keys()) {
    if (!known.has(name)) throw parsingError(`[UpdateRequest] unknown field [${name}]`);
  }
  if (json.has("script") || json.has("scripted_upsert")) {
    throw illegalArgument("This twin runs no scripts: update with [doc] instead of [script]");
  }
  const doc = members(json, "doc");
  const upsert = members(json, "upsert");
  const asUpsert = json.get("doc_as_upsert") === true;
  if (!doc) {
    throw invalidRequest([
      asUpsert ? "doc must be specified if doc_as_upsert is enabled" : "script or doc is missing",
    ]);
  }
  const ifSeqNo = integer(json, "if_seq_no");
  const ifPrimaryTerm = integer(json, "if_primary_term");
  return {
    doc,
    upsert: asUpsert ? doc : upsert,
    detectNoop: json.get("detect_noop") !== false,
    source: json.get("_source"),
    ...(ifSeqNo === undefined ? {} : { ifSeqNo }),
    ...(ifPrimaryTerm === undefined ? {} : { ifPrimaryTerm }),
  };
}

const known = new Set([
  "doc",
  "upsert",
  "doc_as_upsert",
  "detect_noop",
  "script",
  "scripted_upsert",
  "_source",
  "if_seq_no",
  "if_primary_term",
]);

function members(json: Members, name: string): Members | undefined {
  const value = json.get(name);
  if (value === undefined || value === null) return undefined;
  if (value instanceof Map) return value;
  throw parsingError(`[UpdateRequest] ${name} doesn't support values of type: VALUE`);
}

function integer(json: Members, name: string): number | undefined {
  const value = json.get(name);
  return value instanceof NumberText ? Number(value.text) : undefined;
}

function parsingError(reason: string): VendorError {
  return new VendorError(400, { type: "x_content_parse_exception", reason: `[1:2] ${reason}` });
}
