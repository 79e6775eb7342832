/** Roles: what accounts may do. Those that come with the product, and what rows of the world make of them. */
import { z } from "zod";
import { defineTable, type RowOf } from "../../sandbox/table.ts";

/** Searches that a member of a role may run at a time when nothing else is said: `srchJobsQuota`. */
const DEFAULT_JOBS_QUOTA = 3;

const roles = defineTable({
  description:
    "Roles of accounts. admin, power, user and read_only hold as they come with the product when they have no row.",
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
      description: "What its members may do, by the vendor's names of capabilities.",
    },
    imported_roles: {
      type: z.array(z.string().min(1)).default([]),
      description: "Roles whose capabilities it has too.",
    },
    srch_jobs_quota: {
      type: z.number().int().min(0).default(DEFAULT_JOBS_QUOTA),
      description: "How many searches each of its members may run at a time; any number when 0.",
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

/** As the product ships them, and `read_only`, whose members look at everything and search nothing. */
export const shippedRoles: readonly RoleRow[] = [
  { name: "admin", capabilities: managing, imported_roles: ["power", "user"], srch_jobs_quota: 50 },
  { name: "power", capabilities: scheduling, imported_roles: ["user"], srch_jobs_quota: 10 },
  {
    name: "read_only",
    capabilities: looking,
    imported_roles: [],
    srch_jobs_quota: DEFAULT_JOBS_QUOTA,
  },
  {
    name: "user",
    capabilities: [...looking, ...using].sort(),
    imported_roles: [],
    srch_jobs_quota: DEFAULT_JOBS_QUOTA,
  },
];

/** What the roles of an account come to. */
export interface Rights {
  /** The roles it has, and those that these import. */
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;
  /** Searches that it may run at a time; 0: any number. Of several roles the broadest counts. */
  readonly srchJobsQuota: number;
}

/** @param find the row of a role */
export function rightsOf(names: readonly string[], find: (name: string) => RoleRow | undefined): Rights {
  const held = new Set<string>();
  const capabilities = new Set<string>();
  const quotas: number[] = [];
  const hold = (name: string) => {
    if (held.has(name)) return;
    held.add(name);
    const role = roleOf(name, find);
    for (const capability of role?.capabilities ?? []) capabilities.add(capability);
    if (role) quotas.push(role.srch_jobs_quota);
    for (const imported of role?.imported_roles ?? []) hold(imported);
  };
  for (const name of names) hold(name);
  const broadest = quotas.length === 0 ? DEFAULT_JOBS_QUOTA : Math.max(...quotas);
  const srchJobsQuota = quotas.includes(0) ? 0 : broadest;
  return { roles: held, capabilities, srchJobsQuota };
}

function roleOf(name: string, find: (name: string) => RoleRow | undefined): RoleRow | undefined {
  return find(name) ?? shippedRoles.find((role) => role.name === name);
}
