/** What belongs to somebody and to an app: who sees it, and what its entry says of that. */
import { identityIn, type Key } from "@offhook/platform/world/table";
import type { Acl, Entry } from "../output/entry.ts";
import { isVisibleIn, nearestFirst, type Owned, ownedKey } from "../world/ownership.ts";
import { appOf, ownerOf, type Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import type { Sharing } from "./objects.ts";
import { refused } from "./rest-error.ts";
import { canRead, checkWrite } from "./rights.ts";

export interface Ownership {
  readonly owner: string;
  readonly app: string;
  readonly sharing: "user" | "app" | "global";
}

/** Whether the namespace shows it: of `-` also what is somebody's own, to who may see it. */
export function isVisible(viewer: Viewer, row: Ownership): boolean {
  const { owner, app = "-", user } = viewer;
  if (owner === "-" && row.sharing === "user" && row.owner !== user?.name) {
    return canRead(viewer, aclOf(row)) && isVisibleIn({ owner: row.owner, app }, row);
  }
  const whose = owner === undefined || owner === "-" ? (user?.name ?? "nobody") : owner;
  return isVisibleIn({ owner: whose, app }, row);
}

/** What the namespace shows of a table; of one name in an app the nearest alone, but for `-`, which shows everybody's. */
export function inNamespace<Thing extends Owned>(viewer: Viewer, rows: readonly Thing[]): Thing[] {
  const { owner, user } = viewer;
  const visible = rows.filter((row) => isVisible(viewer, row));
  const nearest = nearestFirst(
    visible,
    owner === undefined || owner === "-" ? (user?.name ?? "nobody") : owner,
  );
  if (owner === "-") return nearest;
  const known = new Set<Key>();
  return nearest.filter(({ name, app }) => {
    const key = identityIn([name, app]);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** What the table knows the thing by whose entry it is. */
export function keyOfEntry({ name, acl }: Entry): Key {
  return ownedKey({ name, owner: acl.owner, app: acl.app });
}

/**
 * Whose a new one is: of who asks, or of the namespace it is made in; nobody's is its app's.
 * @param place of it in its namespace: `savedsearches/My report`
 * @throws RestError 403 for who may not write there
 */
export function newOwnership(call: Viewer, place: string): Ownership {
  const owner = ownerOf(call);
  const ownership: Ownership = { owner, app: appOf(call), sharing: owner === "nobody" ? "app" : "user" };
  checkWrite(call, place, aclOf(ownership));
  return ownership;
}

/** @throws RestError 409 where another thing has the name that one is to have */
export function checkNameFree(table: Pick<OwnedTable, "get">, thing: Owned, before?: Owned): void {
  const key = ownedKey(thing);
  if (before !== undefined && ownedKey(before) === key) return;
  if (table.get(key) !== undefined) throw refused(409, `An object with name=${thing.name} already exists`);
}

interface OwnedTable {
  get(key: Key): Owned | undefined;
  update(key: Key, changes: Sharing): unknown;
}

/** Says whose a thing is, and who sees it. @throws RestError 409 */
export function shareOwned(table: OwnedTable, entry: Entry, sharing: Sharing): void {
  const row = table.get(keyOfEntry(entry));
  if (row === undefined) return;
  checkNameFree(table, { ...row, ...sharing }, row);
  table.update(ownedKey(row), sharing);
}

/** What is shared belongs to its app: administrators and power users change it. */
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

/** The address of the entry. @param path of the collection, below `/services` */
export function addressOf({ owner, app }: Ownership, path: string, name: string): string {
  return `/servicesNS/${segmentOf(owner)}/${segmentOf(app)}${path}/${segmentOf(name)}`;
}
