/** Roles and the rights they give: the shipped roles, and the rows that override them. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import type { EventAccess } from "../spl/context/event-access.ts";
import { broadestLimit, combineFilters, filterProblem, type RoleSearch } from "./search-rights.ts";

/** Default of `srchJobsQuota`: searches that a member may run at a time. */
const DEFAULT_JOBS_QUOTA = 3;

/** Default of `srchDiskQuota`: megabytes of a member's results. */
const DEFAULT_DISK_QUOTA_MB = 100;

export const indexPattern = z
  .string()
  .regex(/^[a-z0-9_*-]{1,80}$/, "must be the name of an index, or a pattern with *");
const indexes = z.array(indexPattern);
/** A search expression. */
const filter = z.string().superRefine((text, context) => {
  const problem = filterProblem(text);
  if (problem !== undefined) context.addIssue(`must be a search expression: ${problem}`);
});
const limit = z.number().int().min(-1).default(-1);

/** Roles that exist without a row, with the shipped rights. */
export const builtInRoles: readonly string[] = ["admin", "power", "user", "read_only"];

const roles = defineTable({
  description:
    "Roles of accounts. admin, power, user and read_only exist without a row, with the shipped rights.",
  key: "name",
  columns: {
    name: {
      type: z
        .string()
        .regex(/^[^A-Z\s:;/]+$/, "must have no capitals, blanks, colons, semicolons or slashes"),
      description: "The name.",
    },
    capabilities: {
      type: z.array(z.string().min(1)).default([]),
      description: "Capabilities of its members, by the vendor's names.",
    },
    imported_roles: {
      type: z.array(z.string().min(1)).default([]),
      description: "Roles whose capabilities it inherits.",
      references: "roles.name",
      builtIn: builtInRoles,
    },
    srch_jobs_quota: {
      type: z.number().int().min(0).default(DEFAULT_JOBS_QUOTA),
      description: "How many searches each member may run at a time; any number when 0.",
    },
    srch_indexes_allowed: {
      type: indexes.nullable().default(null),
      description:
        "The indexes that its members may search, with * for any characters; * alone matches all but internal indexes, _* those. When empty: as shipped, and none for a custom role.",
    },
    srch_indexes_disallowed: {
      type: indexes.default([]),
      description: "Indexes that its members may not search, even when another rule allows them.",
    },
    srch_indexes_default: {
      type: indexes.nullable().default(null),
      description:
        "The indexes of a search that names none. When empty: as shipped, and none for a custom role.",
    },
    srch_filter: {
      type: filter.default(""),
      description: "A search expression that limits the events its members find; several are separated by ;.",
    },
    srch_filter_selecting: {
      type: z.boolean().default(true),
      description:
        "Whether the filter adds to those of other roles (an event meets any of them), or limits them.",
    },
    srch_time_win: {
      type: limit,
      description: "Longest time range of a search, in seconds; -1: as other roles say; 0: unlimited.",
    },
    srch_time_earliest: {
      type: limit,
      description: "Greatest age of events, in seconds; -1: as other roles say; 0: unlimited.",
    },
    srch_disk_quota: {
      type: z.number().int().min(0).default(DEFAULT_DISK_QUOTA_MB),
      description: "Megabytes that the results of each member's searches may take; unlimited when 0.",
    },
  },
});

export const roleTables = { roles };

export type RoleRow = Readonly<RowOf<typeof roles.columns>>;

const looking = [
  ...["change_own_password", "get_metadata", "get_typeahead", "list_all_objects", "list_inputs"],
  ...["list_tokens_own", "rest_access_server_endpoints", "rest_apps_view", "rest_properties_get"],
];

const using = [
  ...["edit_own_objects", "export_results_is_visible", "input_file", "output_file", "pattern_detect"],
  ...["request_remote_tok", "rest_properties_set", "run_collect", "run_custom_command", "search"],
  ...["upload_lookup_files"],
];

const scheduling = [
  ...["accelerate_search", "edit_log_alert_event", "edit_messages", "edit_search_schedule_window"],
  ...["edit_sourcetypes", "embed_report", "list_accelerate_search", "metric_alerts", "rtsearch"],
  ...["run_mcollect", "run_msearch", "run_sendalert", "schedule_rtsearch", "schedule_search"],
];

const managing = [
  ...["accelerate_datamodel", "admin_all_objects", "change_audit", "change_authentication"],
  ...["dispatch_rest_to_indexers", "edit_conf_objects", "edit_httpauths", "edit_input_defaults"],
  ...["edit_kvstore", "edit_local_apps", "edit_monitor", "edit_restmap", "edit_roles", "edit_scripted"],
  ...["edit_search_concurrency_all", "edit_search_schedule_priority", "edit_search_scheduler"],
  ...["edit_search_server", "edit_server", "edit_splunktcp", "edit_storage_passwords", "edit_tcp"],
  ...["edit_tcp_stream", "edit_token_http", "edit_tokens_all", "edit_tokens_own", "edit_tokens_settings"],
  ...["edit_udp", "edit_upload_and_index", "edit_user", "edit_view_html", "edit_web_settings"],
  ...["edit_workload_pools", "get_diag", "indexes_edit", "install_apps", "license_edit", "license_tab"],
  ...["list_conf_objects", "list_health", "list_httpauths", "list_introspection", "list_pipeline_sets"],
  ...["list_search_scheduler", "list_settings", "list_storage_passwords", "list_token_http"],
  ...["list_tokens_all", "list_workload_pools", "never_lockout", "rest_apps_management"],
  ...["restart_reason", "restart_splunkd", "run_debug_commands", "select_workload_pools", "web_debug"],
];

interface Shipped extends Pick<RoleRow, "name" | "capabilities" | "imported_roles"> {
  quotas: readonly [jobs: number, diskMb: number];
  internal?: boolean;
}

const shippedRole = ({ name, capabilities, imported_roles, quotas, internal = false }: Shipped): RoleRow => ({
  name,
  capabilities,
  imported_roles,
  srch_jobs_quota: quotas[0],
  srch_indexes_allowed: internal ? ["*", "_*"] : ["*"],
  srch_indexes_disallowed: [],
  srch_indexes_default: ["main"],
  // `*` overrides the filters of other roles.
  srch_filter: internal ? "*" : "",
  srch_filter_selecting: true,
  srch_time_win: internal ? 0 : -1,
  srch_time_earliest: internal ? 0 : -1,
  srch_disk_quota: quotas[1],
});

const defaultQuotas = [DEFAULT_JOBS_QUOTA, DEFAULT_DISK_QUOTA_MB] as const;

/** The product's roles, and `read_only`, whose members read everything and search nothing. */
export const shippedRoles: readonly RoleRow[] = [
  shippedRole({
    name: "admin",
    capabilities: managing,
    imported_roles: ["power", "user"],
    quotas: [50, 10_000],
    internal: true,
  }),
  shippedRole({ name: "power", capabilities: scheduling, imported_roles: ["user"], quotas: [10, 500] }),
  shippedRole({ name: "read_only", capabilities: looking, imported_roles: [], quotas: defaultQuotas }),
  shippedRole({
    name: "user",
    capabilities: [...looking, ...using].sort(),
    imported_roles: [],
    quotas: defaultQuotas,
  }),
];

/** The rights that the roles of an account give together. */
export interface Rights {
  /** Own and inherited roles. */
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;
  /** Searches that it may run at a time; 0: any number. The highest quota of the roles counts. */
  readonly srchJobsQuota: number;
  /** Megabytes that the results of its searches may take; 0: unlimited. */
  readonly srchDiskQuotaMb: number;
  /** The events that it may find. */
  readonly search: EventAccess;
}

/** Merges the rights of roles. @param find finds the row of a role */
export function mergeRoles(names: readonly string[], find: (name: string) => RoleRow | undefined): Rights {
  const held = new Set<string>();
  const found: RoleRow[] = [];
  const hold = (name: string) => {
    if (held.has(name)) return;
    held.add(name);
    const role = roleOf(name, find);
    if (role) found.push(role);
    for (const imported of role?.imported_roles ?? []) hold(imported);
  };
  for (const name of names) hold(name);
  const searches = found.map(searchSettingsOf);
  return {
    roles: held,
    capabilities: new Set(found.flatMap(({ capabilities }) => capabilities)),
    srchJobsQuota: broadestQuota(
      found.map(({ srch_jobs_quota }) => srch_jobs_quota),
      DEFAULT_JOBS_QUOTA,
    ),
    srchDiskQuotaMb: broadestQuota(
      found.map(({ srch_disk_quota }) => srch_disk_quota),
      DEFAULT_DISK_QUOTA_MB,
    ),
    search: {
      allowed: union(searches.map(({ allowed }) => allowed)),
      disallowed: union(searches.map(({ disallowed }) => disallowed)),
      defaults: union(searches.map(({ defaults }) => defaults)),
      filter: combineFilters(searches),
      windowS: broadestLimit(searches.map(({ windowS }) => windowS)),
      earliestS: broadestLimit(searches.map(({ earliestS }) => earliestS)),
    },
  };
}

const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())];

/** The highest quota; 0 is unlimited. */
function broadestQuota(quotas: readonly number[], fallback: number): number {
  if (quotas.includes(0)) return 0;
  return quotas.length === 0 ? fallback : Math.max(...quotas);
}

/** The search settings of a role by itself. */
export function searchSettingsOf(row: RoleRow): RoleSearch {
  const product = shippedRoles.find(({ name }) => name === row.name);
  return {
    allowed: row.srch_indexes_allowed ?? product?.srch_indexes_allowed ?? [],
    disallowed: row.srch_indexes_disallowed,
    defaults: row.srch_indexes_default ?? product?.srch_indexes_default ?? [],
    filter: row.srch_filter,
    selecting: row.srch_filter_selecting,
    windowS: row.srch_time_win,
    earliestS: row.srch_time_earliest,
  };
}

function roleOf(name: string, find: (name: string) => RoleRow | undefined): RoleRow | undefined {
  return find(name) ?? shippedRoles.find((role) => role.name === name);
}
