/** The roles of accounts. */
import type { Entry } from "../output/entry.ts";
import { type RoleRow, rightsOf } from "../world/roles.ts";
import { systemAcl } from "./acl.ts";
import type { Viewer } from "./call.ts";
import { type CollectionDeclaration, collectionRoutes } from "./collection.ts";

function roleEntry({ twin }: Viewer, row: RoleRow): Entry {
  const { name, capabilities, imported_roles, srch_jobs_quota } = row;
  const imported = rightsOf(imported_roles, (role) => twin.tables.table("roles").get(role));
  return {
    name,
    path: `/services/authorization/roles/${encodeURIComponent(name)}`,
    author: "system",
    updatedMs: twin.startedMs,
    links: { list: "", edit: "", remove: "" },
    acl: systemAcl,
    content: {
      capabilities: [...capabilities].sort(),
      defaultApp: "",
      imported_capabilities: [...imported.capabilities].sort(),
      imported_roles,
      imported_srchJobsQuota: imported_roles.length === 0 ? 0 : imported.srchJobsQuota,
      srchFilter: "",
      srchIndexesAllowed: ["*", "_*"],
      srchIndexesDefault: [twin.index],
      srchIndexesDisallowed: [],
      srchJobsQuota: srch_jobs_quota,
      srchTimeWin: -1,
    },
  };
}

export const roleCollection: CollectionDeclaration = {
  id: "role",
  title: "roles",
  path: "/authorization/roles",
  what: "the roles",
  entries: (viewer) =>
    viewer.twin.tables
      .table("roles")
      .all()
      .map((row) => roleEntry(viewer, row)),
};

export const roleOperations = collectionRoutes(roleCollection);
