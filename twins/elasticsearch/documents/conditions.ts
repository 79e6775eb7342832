/** Optimistic concurrency control: sequence numbers and external versions. */
import type { DocumentPlace } from "@offhook/log-store/store/log-store";
import type { Conditions } from "./action.ts";
import { versionConflict } from "./errors.ts";
import type { StoredDocument } from "./stored.ts";

/** @throws VendorError 409 when a precondition fails */
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
