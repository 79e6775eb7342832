/** Authorization: capabilities of the caller's roles, and the ACLs of objects. */
import type { Acl } from "../output/entry.ts";
import type { Rights } from "../world/roles.ts";
import { userOf, type Viewer } from "./call.ts";
import { handlerError, RestError } from "./rest-error.ts";

/** The capability that overrides all ACLs. */
const ALL_OBJECTS = "admin_all_objects";

/** The rights of the caller. */
export function rightsOf(viewer: Viewer): Rights {
  return viewer.twin.rights.of(userOf(viewer));
}

/** Whether the caller has a capability. */
export function may(viewer: Viewer, capability: string): boolean {
  return rightsOf(viewer).capabilities.has(capability);
}

/** @throws RestError 403 */
export function checkCapability(viewer: Viewer, capability: string): void {
  if (may(viewer, capability)) return;
  const { name } = userOf(viewer);
  const text = `You (user=${name}) do not have permission to perform this operation (requires capability: ${capability}).`;
  throw handlerError(403, text);
}

/** Checks that only an administrator uses the namespace of another account. @throws RestError 403 */
export function checkNamespace(viewer: Viewer): void {
  const { owner } = viewer;
  if (owner === undefined || owner === "-" || owner === "nobody" || owner === userOf(viewer).name) return;
  if (!may(viewer, ALL_OBJECTS)) throw handlerError(403, "Action forbidden.");
}

/** Whether the caller may read an object: its own, or one that its roles may read. */
export function canRead(viewer: Viewer, { owner, read }: Pick<Acl, "owner" | "read">): boolean {
  return isGranted(viewer, owner, read);
}

/** Whether the caller may change an object. */
export function canWrite(viewer: Viewer, { owner, write }: Pick<Acl, "owner" | "write">): boolean {
  return isGranted(viewer, owner, write);
}

function isGranted(viewer: Viewer, owner: string, granted: readonly string[]): boolean {
  const { name } = userOf(viewer);
  if (owner === name) return true;
  const { roles, capabilities } = rightsOf(viewer);
  if (capabilities.has(ALL_OBJECTS)) return true;
  return granted.some((one) => one === "*" || one === name || roles.has(one));
}

/** Checks that the caller may change an object. @param place its path in its namespace: `savedsearches/My report` @throws RestError 403 */
export function checkWrite(viewer: Viewer, place: string, acl: Acl): void {
  if (canWrite(viewer, acl)) return;
  const { name, roles } = userOf(viewer);
  const { owner, app, sharing, read, write, removable = false } = acl;
  const whose = sharing === "user" ? owner : "nobody";
  const list = (names: readonly string[]) => (names.length === 0 ? "{ }" : `{ ${names.join(", ")} }`);
  const granted = `{ read : [ ${read.join(", ")} ], write : [ ${write.join(", ")} ] }`;
  const shared = sharing === "global" ? "global" : "none";
  const text = `User '${name}' with roles ${list(roles)} cannot write: /${whose}/${app}/${place} ${granted}, export: ${shared}, owner: ${owner}, removable: ${removable ? "yes" : "no"}`;
  throw handlerError(403, text);
}

/** The error for an object that the caller may not read. */
export function insufficientPermission(): RestError {
  return new RestError(403, [{ type: "WARN", text: "insufficient permission to access this resource" }]);
}
