/** What a fresh twin has in its tables. */
import { createHash } from "node:crypto";
import type { Clock } from "../../sandbox/clock.ts";
import type { Tables } from "../../sandbox/world.ts";

/** The account that there is from the start. */
export const SEED_USER = "admin";
export const SEED_PASSWORD = "splunk-twin-password";
/** A token of that account, for `Authorization: Bearer`. */
export const SEED_TOKEN = "splunk-twin-token";

/** Saved searches that a fresh instance has. */
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

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export function seedTables(clock: Clock): Tables {
  const now = new Date(clock.now()).toISOString();
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
    saved_searches: stockSearches.map((search) => ({ ...search, updated_at: now })),
    sessions: [{ key_sha256: sha256(SEED_TOKEN), user: SEED_USER, kind: "token", created_at: now }],
  };
}
