/** What belongs to somebody and to an app: who sees it, and what its entry says of that. */
import type { Acl } from "../output/entry.ts";
import { appOf, type Call, ownerOf, type Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import { canRead, checkWrite } from "./rights.ts";

export interface Belonging {
  readonly owner: string;
  readonly app: string;
  readonly sharing: "user" | "app" | "global";
}

/** Whether the namespace shows it: what is somebody's own, to them alone, and to who looks into all namespaces and may. */
export function isVisible(viewer: Viewer, row: Belonging): boolean {
  const { owner, app, user } = viewer;
  const isForeign = row.sharing === "user" && row.owner !== user?.name;
  if (isForeign && !(owner === "-" && canRead(viewer, aclOf(row)))) return false;
  return app === undefined || app === "-" || app === "system" || row.app === app || row.sharing === "global";
}

/**
 * Whose a new one is: of who asks, or of the namespace it is made in; nobody's is its app's.
 * @param place of it in its namespace: `savedsearches/My report`
 * @throws RestError 403 for who may not write there
 */
export function newBelonging(call: Call, place: string): Belonging {
  const owner = ownerOf(call);
  const belonging: Belonging = { owner, app: appOf(call), sharing: owner === "nobody" ? "app" : "user" };
  checkWrite(call, place, aclOf(belonging));
  return belonging;
}

/** What is shared belongs to its app: administrators and power users change it. */
export function aclOf({ app, owner, sharing }: Belonging): Acl {
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
export function addressOf({ owner, app }: Belonging, path: string, name: string): string {
  return `/servicesNS/${segmentOf(owner)}/${segmentOf(app)}${path}/${segmentOf(name)}`;
}
