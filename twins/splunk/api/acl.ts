/** Access control lists of entries. */
import type { Acl } from "../output/entry.ts";

/** Of shipped objects. */
export const systemAcl: Acl = {
  app: "system",
  owner: "nobody",
  sharing: "system",
  read: ["*"],
  write: ["admin"],
  removable: false,
};
