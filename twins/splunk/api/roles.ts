/** Roles of accounts. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Content, Entry } from "../output/entry.ts";
import type { EventAccess } from "../spl/context/event-access.ts";
import { builtInRoles, indexPattern, mergeRoles, type RoleRow, searchSettingsOf } from "../world/roles.ts";
import { filterProblem } from "../world/search-rights.ts";
import { systemAcl } from "./acl.ts";
import type { Arguments } from "./arguments.ts";
import type { Call, Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import { type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { handlerError } from "./rest-error.ts";

const roles = ({ twin }: Viewer) => twin.tables.table("roles");

/** Further settings of a fresh role in version 10.4.2, without effect in the twin. */
const unlimited = lookupTable<Content>({
  cumulativeRTSrchJobsQuota: 0,
  cumulativeSrchJobsQuota: 0,
  defaultApp: "",
  deleteIndexesAllowed: [],
  federatedProviders: [],
  grantable_roles: [],
  imported_queuedSearchQuota: 0,
  imported_rtSrchJobsQuota: 0,
  imported_srchFederatedProvidersAllowed: [],
  imported_srchFederatedProvidersDefault: [],
  queuedSearchQuota: 0,
  rtSrchJobsQuota: 0,
  srchFederatedProvidersAllowed: ["*"],
  srchFederatedProvidersDefault: ["*"],
});

/** Search settings of a role. */
function searchContent(
  prefix: string,
  search: Omit<EventAccess, "windowS" | "earliestS">,
): Record<string, Content> {
  return {
    [`${prefix}srchFilter`]: search.filter,
    [`${prefix}srchIndexesAllowed`]: [...search.allowed],
    [`${prefix}srchIndexesDefault`]: [...search.defaults],
    [`${prefix}srchIndexesDisallowed`]: [...search.disallowed],
  };
}

function roleEntry(viewer: Viewer, row: RoleRow): Entry {
  const { twin } = viewer;
  const { name, capabilities, imported_roles, srch_jobs_quota } = row;
  const imports = imported_roles.length > 0;
  const imported = mergeRoles(imported_roles, (role) => roles(viewer).get(role));
  return {
    name,
    path: `/services/authorization/roles/${segmentOf(name)}`,
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
      ...searchContent("imported_", imported.search),
      imported_srchDiskQuota: imports ? imported.srchDiskQuotaMb : 0,
      imported_srchJobsQuota: imports ? imported.srchJobsQuota : 0,
      imported_srchTimeEarliest: imported.search.earliestS ?? -1,
      imported_srchTimeWin: imported.search.windowS ?? -1,
      ...searchContent("", searchSettingsOf(row)),
      srchDiskQuota: row.srch_disk_quota,
      srchJobsQuota: srch_jobs_quota,
      srchTimeEarliest: row.srch_time_earliest,
      srchTimeWin: row.srch_time_win,
    },
  };
}

/** Arguments of a role. */
const changeable = [
  ...["capabilities", "defaultApp", "imported_roles", "srchDiskQuota", "srchFilter", "srchIndexesAllowed"],
  ...["srchIndexesDefault", "srchIndexesDisallowed", "srchJobsQuota", "srchTimeEarliest", "srchTimeWin"],
];

/** The columns that a request changes. @throws RestError 400 */
function changesOf(call: Call) {
  const given = call.arguments;
  const imported = given.list("imported_roles");
  const unknown = imported?.find((role) => !roles(call).get(role));
  if (unknown !== undefined) throw handlerError(400, `Role=${unknown} does not exist.`);
  const number = (name: string, min = 0) => (given.has(name) ? given.integer(name, min, min) : undefined);
  const filter = given.get("srchFilter");
  if (filter !== undefined && filterProblem(filter) !== undefined) {
    throw handlerError(400, `Invalid value "${filter}" for argument "srchFilter".`);
  }
  return omitUndefined({
    capabilities: given.list("capabilities"),
    imported_roles: imported,
    srch_jobs_quota: number("srchJobsQuota"),
    srch_disk_quota: number("srchDiskQuota"),
    srch_filter: filter,
    srch_indexes_allowed: indexesOf(given, "srchIndexesAllowed"),
    srch_indexes_default: indexesOf(given, "srchIndexesDefault"),
    srch_indexes_disallowed: indexesOf(given, "srchIndexesDisallowed"),
    srch_time_earliest: number("srchTimeEarliest", -1),
    srch_time_win: number("srchTimeWin", -1),
  });
}

/** Reads repeated, or comma- or semicolon-separated index patterns. @throws RestError 400 */
function indexesOf(given: Arguments, name: string): string[] | undefined {
  const patterns = given.list(name)?.flatMap((text) => text.split(";").flatMap((one) => one.trim() || []));
  const wrong = patterns?.find((pattern) => !indexPattern.safeParse(pattern).success);
  if (wrong !== undefined) throw handlerError(400, `Invalid value "${wrong}" for argument "${name}".`);
  return patterns;
}

/** Removes a role from all accounts and from the roles that import it. */
function revokeEverywhere(call: Call, name: string): void {
  const without = (names: readonly string[]) => names.filter((role) => role !== name);
  const users = call.twin.tables.table("users");
  for (const user of users.all()) {
    if (user.roles.includes(name)) users.update(user.name, { roles: without(user.roles) });
  }
  for (const role of roles(call).all()) {
    if (!role.imported_roles.includes(name)) continue;
    roles(call).update(role.name, { imported_roles: without(role.imported_roles) });
  }
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
    if (roles(call).get(name)) throw handlerError(409, `Role with name=${name} already exists`);
    roles(call).insert({ ...changesOf(call), name });
    return name;
  },
  update(call, { name }) {
    roles(call).update(name, changesOf(call));
  },
  remove(call, { name }) {
    if (!builtInRoles.includes(name)) revokeEverywhere(call, name);
    roles(call).remove(name);
  },
};

export const roleOperations = objectRoutes(roleCollection);
