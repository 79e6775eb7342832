/** Ownership of objects: visibility in a namespace, ACL and address of their entries. */
import { identityIn, type Key } from "@offhook/platform/world/table";
import type { Acl, Entry } from "../output/entry.ts";
import { isVisibleIn, type Owned, ownedKey, sortByPrecedence } from "../world/ownership.ts";
import { appOf, ownerOf, type Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import type { Sharing } from "./objects.ts";
import { handlerError } from "./rest-error.ts";
import { canRead, checkWrite } from "./rights.ts";

export interface Ownership {
  readonly owner: string;
  readonly app: string;
  readonly sharing: "user" | "app" | "global";
}

/** Whether the viewer's namespace shows an object; `-` also shows private objects that the viewer may read. */
export function isVisible(viewer: Viewer, row: Ownership): boolean {
  const { owner, app = "-", user } = viewer;
  if (owner === "-" && row.sharing === "user" && row.owner !== user?.name) {
    return canRead(viewer, aclOf(row)) && isVisibleIn({ owner: row.owner, app }, row);
  }
  const whose = owner === undefined || owner === "-" ? (user?.name ?? "nobody") : owner;
  return isVisibleIn({ owner: whose, app }, row);
}

/** Filters rows to those that the namespace shows, by precedence; one per name and app, except in `-`. */
export function visibleRows<Thing extends Owned>(viewer: Viewer, rows: readonly Thing[]): Thing[] {
  const { owner, user } = viewer;
  const visible = rows.filter((row) => isVisible(viewer, row));
  const sorted = sortByPrecedence(
    visible,
    owner === undefined || owner === "-" ? (user?.name ?? "nobody") : owner,
  );
  if (owner === "-") return sorted;
  const known = new Set<Key>();
  return sorted.filter(({ name, app }) => {
    const key = identityIn([name, app]);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** The key of an entry's row. */
export function keyOfEntry({ name, acl }: Entry): Key {
  return ownedKey({ name, owner: acl.owner, app: acl.app });
}

/**
 * Ownership of a new object: the namespace's owner, else the caller. An object of nobody is shared in its app.
 * @param place path of the object in its namespace: `savedsearches/My report`
 * @throws RestError 403 when the caller may not write there
 */
export function newOwnership(call: Viewer, place: string): Ownership {
  const owner = ownerOf(call);
  const ownership: Ownership = { owner, app: appOf(call), sharing: owner === "nobody" ? "app" : "user" };
  checkWrite(call, place, aclOf(ownership));
  return ownership;
}

/** Checks that no other object has the name. @throws RestError 409 */
export function checkNameFree(table: Pick<OwnedTable, "get">, thing: Owned, before?: Owned): void {
  const key = ownedKey(thing);
  if (before !== undefined && ownedKey(before) === key) return;
  if (table.get(key) !== undefined)
    throw handlerError(409, `An object with name=${thing.name} already exists`);
}

interface OwnedTable {
  get(key: Key): Owned | undefined;
  update(key: Key, changes: Sharing): unknown;
}

/** Changes owner and sharing of an object. @throws RestError 409 */
export function shareOwned(table: OwnedTable, entry: Entry, sharing: Sharing): void {
  const row = table.get(keyOfEntry(entry));
  if (row === undefined) return;
  checkNameFree(table, { ...row, ...sharing }, row);
  table.update(ownedKey(row), sharing);
}

/** The ACL of an object; shared ones are writable by admin and power. */
export function aclOf({ app, owner, sharing }: Ownership): Acl {
  return {
    app,
    owner,
    sharing,
    read: sharing === "user" ? [] : ["*"],
    write: sharing === "user" ? [] : ["admin", "power"],
    removable: true,
  };
}

/** The address of an entry. @param path of the collection, below `/services` */
export function addressOf({ owner, app }: Ownership, path: string, name: string): string {
  return `/servicesNS/${segmentOf(owner)}/${segmentOf(app)}${path}/${segmentOf(name)}`;
}
