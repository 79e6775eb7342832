/** Write actions on single documents, and their outcomes. */
import type { ExactJson } from "../json/read.ts";
import type { VendorError } from "../vendor/error.ts";

export type VersionType = "internal" | "external" | "external_gte";

/** Preconditions of a write. */
export interface Conditions {
  ifSeqNo?: number;
  ifPrimaryTerm?: number;
  version?: number;
  versionType: VersionType;
}

interface Targeted {
  index: string;
  conditions: Conditions;
}

export interface IndexAction extends Targeted {
  kind: "index" | "create";
  /** Generated when absent. */
  id: string | undefined;
  /** JSON text of an object. */
  source: string;
}

interface DeleteAction extends Targeted {
  kind: "delete";
  id: string;
}

/** Merges a partial document into a document. */
export interface UpdateAction extends Targeted {
  kind: "update";
  id: string;
  doc: Map<string, ExactJson> | undefined;
  /** Stored when the document is missing. */
  upsert: Map<string, ExactJson> | undefined;
  /** Skips the write when the merge changes nothing. */
  detectNoop: boolean;
}

export type Action = IndexAction | DeleteAction | UpdateAction;

export interface Done {
  index: string;
  id: string;
  version: number;
  seqNo: number;
  result: "created" | "updated" | "deleted" | "noop" | "not_found";
  /** The resulting document, for updates. */
  source?: string;
}

export interface Failed {
  index: string;
  id: string | undefined;
  error: VendorError;
}

export type Outcome = Done | Failed;

export const isFailed = (outcome: Outcome): outcome is Failed => "error" in outcome;
