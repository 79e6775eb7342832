/** Accounts, and who asks. */
import type { Entry } from "../output/entry.ts";
import type { UserRow } from "../world/tables.ts";
import { systemAcl } from "./acl.ts";
import { userOf, type Viewer } from "./call.ts";
import { type CollectionDeclaration, collectionRoutes, singleResponse } from "./collection.ts";
import { may, rightsOfUser } from "./rights.ts";
import { route } from "./route.ts";

function userEntry(viewer: Viewer, user: UserRow, path: string): Entry {
  const { twin } = viewer;
  return {
    name: user.name,
    path,
    author: "system",
    updatedMs: twin.startedMs,
    links: { list: "", edit: "" },
    acl: systemAcl,
    content: {
      capabilities: [...rightsOfUser(viewer, user).capabilities].sort(),
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

export const userCollection: CollectionDeclaration = {
  id: "user",
  title: "users",
  path: "/authentication/users",
  what: "the accounts",
  entries: (viewer) =>
    viewer.twin.tables
      .table("users")
      .all()
      // Who may not manage accounts sees no other than their own.
      .filter(({ name }) => name === userOf(viewer).name || may(viewer, "edit_user"))
      .map((user) =>
        userEntry(viewer, user, `/services/authentication/users/${encodeURIComponent(user.name)}`),
      ),
};

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
  ...collectionRoutes(userCollection),
];
