/** Accounts, and who asks. */
import type { Entry } from "../output/entry.ts";
import type { UserRow } from "../world/tables.ts";
import { systemAcl } from "./acl.ts";
import { type Call, userOf } from "./call.ts";
import { collection, singleResponse } from "./collection.ts";
import { route } from "./route.ts";
import { capabilitiesOf } from "./server.ts";

function userEntry({ twin }: Call, user: UserRow, path: string): Entry {
  return {
    name: user.name,
    path,
    author: "system",
    updatedMs: twin.startedMs,
    links: { list: "", edit: "" },
    acl: systemAcl,
    content: {
      capabilities: capabilitiesOf(user.roles),
      defaultApp: user.default_app,
      defaultAppIsUserOverride: false,
      defaultAppSourceRole: "system",
      email: user.email,
      password: "********",
      realname: user.realname,
      roles: user.roles,
      type: "Splunk",
      tz: twin.timeZone,
      username: user.name,
    },
  };
}

export const userOperations = [
  ...route({
    id: "user.current",
    method: "GET",
    path: "/authentication/current-context",
    summary: "Say who asks, and what they may do.",
    handle(call) {
      const path = "/services/authentication/current-context/context";
      const entry = { ...userEntry(call, userOf(call), path), name: "context", links: { list: "" } };
      return singleResponse(call, entry, "current-context", "/authentication/current-context", {});
    },
  }),
  ...collection({
    id: "user",
    title: "users",
    path: "/authentication/users",
    what: "the accounts",
    entries: (call) =>
      call.twin.tables
        .table("users")
        .all()
        .map((user) =>
          userEntry(call, user, `/services/authentication/users/${encodeURIComponent(user.name)}`),
        ),
  }),
];
