/** Optimistic concurrency: sequence numbers, and versions that are kept elsewhere. */
import type { DocumentPlace } from "@offhook/log-store/store/log-store";
import type { Conditions } from "./action.ts";
import { versionConflict } from "./errors.ts";
import type { StoredDocument } from "./stored.ts";

/** @throws VendorError 409 when a condition of a write is not met */
export function checkConditions(
  { index, id }: DocumentPlace,
  { ifSeqNo, ifPrimaryTerm = 1, version, versionType }: Conditions,
  old: StoredDocument | undefined,
): void {
  if (ifSeqNo !== undefined && (old?.seqNo !== ifSeqNo || ifPrimaryTerm !== 1)) {
    const required = `required seqNo [${ifSeqNo}], primary term [${ifPrimaryTerm}].`;
    const found = old
      ? `current document has seqNo [${old.seqNo}] and primary term [1]`
      : "but no document was found";
    throw versionConflict(index, id, `${required} ${found}`);
  }
  if (version === undefined || versionType === "internal" || !old) return;
  const higher = versionType === "external" ? old.version >= version : old.version > version;
  if (!higher) return;
  const relation = versionType === "external" ? "higher or equal to" : "higher than";
  throw versionConflict(
    index,
    id,
    `current version [${old.version}] is ${relation} the one provided [${version}]`,
  );
}
