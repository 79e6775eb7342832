/** The roles of accounts. */
import type { Content, Entry } from "../output/entry.ts";
import { type RoleRow, rightsOf } from "../world/roles.ts";
import { systemAcl } from "./acl.ts";
import type { Call, Viewer } from "./call.ts";
import { defined } from "./defined.ts";
import { type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { refused } from "./rest-error.ts";

const roles = ({ twin }: Viewer) => twin.tables.table("roles");

/** What a fresh role of 10.4.2 has beside what is told of it here; none of it narrows anything. */
const unlimited: Readonly<Record<string, Content>> = {
  cumulativeRTSrchJobsQuota: 0,
  cumulativeSrchJobsQuota: 0,
  defaultApp: "",
  deleteIndexesAllowed: [],
  federatedProviders: [],
  grantable_roles: [],
  imported_queuedSearchQuota: 0,
  imported_rtSrchJobsQuota: 0,
  imported_srchDiskQuota: 0,
  imported_srchFederatedProvidersAllowed: [],
  imported_srchFederatedProvidersDefault: [],
  imported_srchFilter: "",
  imported_srchIndexesAllowed: ["*"],
  imported_srchIndexesDefault: [],
  imported_srchIndexesDisallowed: [],
  imported_srchTimeEarliest: -1,
  imported_srchTimeWin: -1,
  queuedSearchQuota: 0,
  rtSrchJobsQuota: 0,
  srchDiskQuota: 100,
  srchFederatedProvidersAllowed: ["*"],
  srchFederatedProvidersDefault: ["*"],
  srchFilter: "",
  srchIndexesAllowed: ["*", "_*"],
  srchIndexesDisallowed: [],
  srchTimeEarliest: -1,
  srchTimeWin: -1,
};

function roleEntry(viewer: Viewer, row: RoleRow): Entry {
  const { twin } = viewer;
  const { name, capabilities, imported_roles, srch_jobs_quota } = row;
  const imported = rightsOf(imported_roles, (role) => roles(viewer).get(role));
  return {
    name,
    path: `/services/authorization/roles/${encodeURIComponent(name)}`,
    author: "system",
    updatedMs: twin.startedMs,
    links: { list: "", edit: "", remove: "" },
    acl: { ...systemAcl, removable: true },
    fields: { optional: changeable, required: [], wildcard: [] },
    content: {
      ...unlimited,
      capabilities: [...capabilities].sort(),
      imported_capabilities: [...imported.capabilities].sort(),
      imported_roles,
      imported_srchJobsQuota: imported_roles.length === 0 ? 0 : imported.srchJobsQuota,
      srchIndexesDefault: [twin.index],
      srchJobsQuota: srch_jobs_quota,
    },
  };
}

/** What a role is given here. What narrows searches is refused: no role keeps anybody from an index. */
const changeable = ["capabilities", "defaultApp", "imported_roles", "srchJobsQuota"];

/** What a request says of a role, as the row has it. */
function changesOf({ arguments: given }: Call) {
  return defined({
    capabilities: given.list("capabilities"),
    imported_roles: given.list("imported_roles"),
    srch_jobs_quota: given.has("srchJobsQuota") ? given.integer("srchJobsQuota", 0) : undefined,
  });
}

export const roleCollection: ObjectDeclaration = {
  id: "role",
  title: "roles",
  path: "/authorization/roles",
  what: "the roles",
  one: "a role",
  changeCapability: "edit_roles",
  links: { create: "_new" },
  settings: (name) => changeable.includes(name),
  entries: (viewer) =>
    roles(viewer)
      .all()
      .map((row) => roleEntry(viewer, row)),
  create(call, name) {
    if (roles(call).get(name)) throw refused(409, `Role with name=${name} already exists`);
    roles(call).insert({ ...changesOf(call), name });
    return name;
  },
  update(call, { name }) {
    roles(call).update(name, changesOf(call));
  },
  remove(call, { name }) {
    roles(call).remove(name);
  },
};

export const roleOperations = objectRoutes(roleCollection);
