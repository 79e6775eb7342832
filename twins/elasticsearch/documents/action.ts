/** What can be done to one document, and what came of it. */
import type { ExactJson } from "../json/read.ts";
import type { VendorError } from "../vendor/error.ts";

export type VersionType = "internal" | "external" | "external_gte";

/** What must be so for a write to happen. */
export interface Conditions {
  ifSeqNo?: number;
  ifPrimaryTerm?: number;
  version?: number;
  versionType: VersionType;
}

interface Placed {
  index: string;
  conditions: Conditions;
}

export interface IndexAction extends Placed {
  kind: "index" | "create";
  /** Made when absent. */
  id: string | undefined;
  /** JSON text of an object. */
  source: string;
}

export interface DeleteAction extends Placed {
  kind: "delete";
  id: string;
}

/** Merges a part into a document. */
export interface UpdateAction extends Placed {
  kind: "update";
  id: string;
  doc: Map<string, ExactJson> | undefined;
  /** Stored when there is no document. */
  upsert: Map<string, ExactJson> | undefined;
  /** A merge that changes nothing writes nothing. */
  detectNoop: boolean;
}

export type Action = IndexAction | DeleteAction | UpdateAction;

export interface Done {
  index: string;
  id: string;
  version: number;
  seqNo: number;
  result: "created" | "updated" | "deleted" | "noop" | "not_found";
  /** The document as it is now, of an update. */
  source?: string;
}

export interface Failed {
  index: string;
  id: string | undefined;
  error: VendorError;
}

export type Outcome = Done | Failed;

export const isFailed = (outcome: Outcome): outcome is Failed => "error" in outcome;
