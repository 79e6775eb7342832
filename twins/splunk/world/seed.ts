/** The rows of a fresh twin. */
import { createHash } from "node:crypto";
import type { Tables } from "@offhook/platform/world/world";
import { VERSION } from "../product.ts";
import { shippedRoles } from "./roles.ts";

/** The initial account. */
export const SEED_USER = "admin";
export const SEED_PASSWORD = "splunk-twin-password";
/** A token of that account, for `Authorization: Bearer`. */
export const SEED_TOKEN = "splunk-twin-token";

/** A token of the event collector. */
export const SEED_HEC_TOKEN = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";
/** The indexes of a fresh platform, beside the default index of events. */
const INDEXES = ["_audit", "_internal", "_introspection", "history", "main", "summary"];

/** Saved searches of a fresh instance. */
const stockSearches = [
  {
    name: "Errors in the last 24 hours",
    search: "error OR failed OR severe OR ( sourcetype=access_* ( 404 OR 500 OR 503 ) )",
    earliest_time: "-1d",
  },
  {
    name: "Errors in the last hour",
    search: "error OR failed OR severe OR ( sourcetype=access_* ( 404 OR 500 OR 503 ) )",
    earliest_time: "-1h",
  },
];

/** Apps of a fresh instance. */
const stockApps = [
  { name: "launcher", label: "Home", description: "Where to begin." },
  { name: "search", label: "Search & Reporting", description: "Searches, reports and alerts." },
  {
    name: "splunk_httpinput",
    label: "splunk_httpinput",
    description: "The event collector.",
    visible: false,
  },
];

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Creation time of shipped objects; fixed, so that all fresh twins are equal. */
const SHIPPED_AT = "1970-01-01T00:00:00.000Z";

/** @param index default index of events */
export function seedTables(index: string): Tables {
  return {
    users: [
      {
        name: SEED_USER,
        password_sha256: sha256(SEED_PASSWORD),
        realname: "Administrator",
        email: "admin@example.com",
        roles: ["admin"],
      },
    ],
    roles: shippedRoles.map((role) => ({ ...role, srch_indexes_default: [index] })),
    saved_searches: stockSearches.map((search) => ({ ...search, updated_at: SHIPPED_AT })),
    sessions: [{ key_sha256: sha256(SEED_TOKEN), user: SEED_USER, kind: "token", created_at: SHIPPED_AT }],
    indexes: [...new Set([...INDEXES, index])].sort().map((name) => ({ name })),
    hec_tokens: [{ name: "splunk_hec_token", token_sha256: sha256(SEED_HEC_TOKEN), index }],
    apps: stockApps.map((app) => ({ ...app, version: VERSION, configured: true })),
    conf_stanzas: ["inputs/http", "limits/http_input"].map((name) => ({ name, app: "splunk_httpinput" })),
  };
}
