/** Rights that entries show. */
import type { Acl } from "../output/entry.ts";

/** Of what comes with the product. */
export const systemAcl: Acl = {
  app: "system",
  owner: "nobody",
  sharing: "system",
  read: ["*"],
  write: ["admin"],
  removable: false,
};
