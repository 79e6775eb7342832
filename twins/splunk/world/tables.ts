/** All tables of the log-query twin except the events. */

import { createMemoryWorld, type MemoryWorld } from "@offhook/platform/world/memory-world";
import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { alertTables } from "./alert-tables.ts";
import { collectorTables } from "./collector-tables.ts";
import { confTables } from "./conf-tables.ts";
import { knowledgeTables } from "./knowledge-tables.ts";
import { builtInRoles, roleTables } from "./roles.ts";
import { savedSearchTables } from "./saved-search-tables.ts";

const moment = z.iso.datetime();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const message = z.strictObject({
  type: z.enum(["FATAL", "ERROR", "WARN", "INFO", "DEBUG"]),
  text: z.string(),
});

const users = defineTable({
  description: "Accounts.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The user name." },
    password_sha256: { type: sha256, description: "SHA-256 of the password, in hexadecimal." },
    realname: { type: z.string().default(""), description: "The full name." },
    email: { type: z.string().default(""), description: "The mail address." },
    roles: {
      type: z.array(z.string()).default(["user"]),
      description: "The roles of the user.",
      references: "roles.name",
      builtIn: builtInRoles,
    },
    default_app: {
      type: z.string().default("search"),
      description: "The app that the user starts in.",
      references: "apps.name",
      mayDangle: true,
    },
  },
});

const sessions = defineTable({
  description: "Session keys of logins, and tokens.",
  key: "key_sha256",
  limit: { rows: 20_000 },
  columns: {
    key_sha256: { type: sha256, description: "SHA-256 of the key or token, in hexadecimal." },
    user: { type: z.string(), description: "The account.", references: "users.name" },
    kind: {
      type: z.enum(["session", "token"]).default("session"),
      description: "Whether a login created it, or it is a permanent token.",
    },
    created_at: { type: moment, description: "When it was made." },
    expires_at: {
      type: moment.nullable().default(null),
      description: "When it expires; never when empty. Use extends a session.",
    },
  },
});

const jobs = defineTable({
  description:
    "Running and finished searches. Their results are kept beside the rows, until a job is removed or expires.",
  key: "sid",
  limit: { rows: 5_000, mayEvict: ({ state }) => state === "DONE" || state === "FAILED" },
  columns: {
    sid: { type: z.string().min(1), description: "The search id." },
    search: { type: z.string(), description: "The search." },
    owner: { type: z.string(), description: "Who started it." },
    app: { type: z.string().default("search"), description: "The app it was started in." },
    saved_search: {
      type: z.string().nullable().default(null),
      description: "The saved search that it runs.",
    },
    saved_search_owner: {
      type: z.string().nullable().default(null),
      description: "Owner of the saved search.",
    },
    readers: {
      type: z.array(z.string().min(1)).default([]),
      description:
        "Roles and users that may read it beside its owner; * for everybody, as for a shared scheduled search.",
    },
    state: {
      type: z.enum(["QUEUED", "PARSING", "RUNNING", "PAUSED", "FINALIZING", "DONE", "FAILED"]),
      description: "Its dispatchState.",
    },
    finalized: {
      type: z.boolean().default(false),
      description: "Whether it ended early with the results it had.",
    },
    saved: { type: z.boolean().default(false), description: "Whether it is kept for a week." },
    created_at: { type: moment, description: "When it was started." },
    finished_at: { type: moment.nullable().default(null), description: "When it finished or failed." },
    expires_at: { type: moment, description: "When it is removed." },
    ttl_s: {
      type: z.number().int().min(0),
      description: "Seconds that it is kept after its last use.",
    },
    priority: { type: z.number().int().min(0).max(10).default(5), description: "Its priority." },
    earliest_at: {
      type: moment.nullable().default(null),
      description: "Start of its time range; open when empty.",
    },
    latest_at: {
      type: moment.nullable().default(null),
      description: "End of its time range; open when empty.",
    },
    run_duration_s: { type: z.number().min(0).default(0), description: "How many seconds it ran." },
    scan_count: {
      type: z.number().int().min(0).nullable().default(null),
      description: "Events scanned; empty until the job is first read.",
    },
    event_count: {
      type: z.number().int().min(0).nullable().default(null),
      description: "Events found; empty until the job is first read.",
    },
    result_count: { type: z.number().int().min(0).default(0), description: "Rows of its result." },
    messages: { type: z.array(message).default([]), description: "Its messages." },
    request: {
      type: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
      description: "The arguments it was started with.",
    },
  },
});

export const logQueryTables = {
  users,
  ...roleTables,
  sessions,
  ...savedSearchTables,
  jobs,
  ...knowledgeTables,
  ...collectorTables,
  ...confTables,
  ...alertTables,
};

export type LogQueryTables = MemoryWorld<typeof logQueryTables>;
export type UserRow = Readonly<RowOf<typeof users.columns>>;
export type { SavedSearchRow } from "./saved-search-tables.ts";
export type JobRow = Readonly<RowOf<typeof jobs.columns>>;

export function createTables(): LogQueryTables {
  return createMemoryWorld(logQueryTables);
}
