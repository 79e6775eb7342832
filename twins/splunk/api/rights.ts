/** What who asks may do: capabilities of roles, and the rights that things give to people. */
import type { Acl } from "../output/entry.ts";
import { type Rights, type RoleRow, rightsOf } from "../world/roles.ts";
import type { UserRow } from "../world/tables.ts";
import { userOf, type Viewer } from "./call.ts";
import { RestError, refused } from "./rest-error.ts";

/** The capability that goes past all rights of things. */
const EVERYTHING = "admin_all_objects";

/** What accounts may do, by the rows of roles that it came from. */
const known = new WeakMap<UserRow, { rights: Rights; from: ReadonlyMap<string, RoleRow | undefined> }>();

/** What an account may do. */
export function rightsOfUser({ twin }: Viewer, user: UserRow): Rights {
  const roles = twin.tables.table("roles");
  const before = known.get(user);
  if (before !== undefined && [...before.from].every(([name, row]) => roles.get(name) === row)) {
    return before.rights;
  }
  const from = new Map<string, RoleRow | undefined>();
  const rights = rightsOf(user.roles, (name) => {
    const row = roles.get(name);
    from.set(name, row);
    return row;
  });
  known.set(user, { rights, from });
  return rights;
}

/** What who asks may do. */
export function rights(viewer: Viewer): Rights {
  return rightsOfUser(viewer, userOf(viewer));
}

export function may(viewer: Viewer, capability: string): boolean {
  return rights(viewer).capabilities.has(capability);
}

/** @throws RestError 403 */
export function checkCapability(viewer: Viewer, capability: string): void {
  if (may(viewer, capability)) return;
  const { name } = userOf(viewer);
  const text = `You (user=${name}) do not have permission to perform this operation (requires capability: ${capability}).`;
  throw refused(403, text);
}

/** Whoever is no administrator works in no namespace of somebody else. @throws RestError 403 */
export function checkNamespace(viewer: Viewer): void {
  const { owner } = viewer;
  if (owner === undefined || owner === "-" || owner === "nobody" || owner === userOf(viewer).name) return;
  if (!may(viewer, EVERYTHING)) throw refused(403, "Action forbidden.");
}

/** Whether a thing is for the eyes of who asks: their own, or given to their roles to read. */
export function canRead(viewer: Viewer, { owner, read }: Pick<Acl, "owner" | "read">): boolean {
  return isGranted(viewer, owner, read);
}

/** Whether who asks may change a thing. */
export function canWrite(viewer: Viewer, { owner, write }: Pick<Acl, "owner" | "write">): boolean {
  return isGranted(viewer, owner, write);
}

function isGranted(viewer: Viewer, owner: string, granted: readonly string[]): boolean {
  const { name } = userOf(viewer);
  if (owner === name) return true;
  const { roles, capabilities } = rights(viewer);
  if (capabilities.has(EVERYTHING)) return true;
  return granted.some((one) => one === "*" || one === name || roles.has(one));
}

/** @param place of the thing in its namespace: `savedsearches/My report`. @throws RestError 403 in splunkd's words */
export function checkWrite(viewer: Viewer, place: string, acl: Acl): void {
  if (canWrite(viewer, acl)) return;
  const { name, roles } = userOf(viewer);
  const { owner, app, sharing, read, write, removable = false } = acl;
  const whose = sharing === "user" ? owner : "nobody";
  const list = (names: readonly string[]) => (names.length === 0 ? "{ }" : `{ ${names.join(", ")} }`);
  const granted = `{ read : [ ${read.join(", ")} ], write : [ ${write.join(", ")} ] }`;
  const shared = sharing === "global" ? "global" : "none";
  const text = `User '${name}' with roles ${list(roles)} cannot write: /${whose}/${app}/${place} ${granted}, export: ${shared}, owner: ${owner}, removable: ${removable ? "yes" : "no"}`;
  throw refused(403, text);
}

/** What belongs to somebody else, and is nobody's business. */
export function insufficient(): RestError {
  return new RestError(403, [{ type: "WARN", text: "insufficient permission to access this resource" }]);
}
