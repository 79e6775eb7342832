/** Accounts, and the context of the caller. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Content, Entry } from "../output/entry.ts";
import { sha256 } from "../world/seed.ts";
import type { UserRow } from "../world/tables.ts";
import { systemAcl } from "./acl.ts";
import { type Call, userOf, type Viewer } from "./call.ts";
import { singleResponse } from "./collection.ts";
import { segmentOf } from "./name-segment.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { handlerError, missingArgument } from "./rest-error.ts";
import { may } from "./rights.ts";
import { route } from "./route.ts";

const PATH = "/authentication/users";

/** Default preferences of an account, without effect in the twin. */
const preferences = lookupTable<Content>({
  defaultAppIsUserOverride: false,
  defaultAppSourceRole: "system",
  display_new_search_banner: null,
  lang: "",
  last_successful_login: 0,
  "locked-out": false,
  olly_org: "",
  restart_background_jobs: null,
  search_assistant: "compact",
  search_auto_format: false,
  search_line_numbers: false,
  search_syntax_highlighting: "default-system-theme",
  search_use_advanced_editor: true,
  theme: "default_system_theme",
});

const changeable = [
  "createrole",
  "defaultApp",
  "email",
  "force-change-pass",
  "oldpassword",
  "password",
  "realname",
  "restart_background_jobs",
  "roles",
  "tz",
];

function userEntry(viewer: Viewer, user: UserRow, path: string): Entry {
  const { twin } = viewer;
  return {
    name: user.name,
    path,
    author: "system",
    updatedMs: twin.startedMs,
    links: { list: "", edit: "", remove: "" },
    acl: { ...systemAcl, removable: true },
    fields: { optional: changeable, required: [], wildcard: [] },
    content: {
      ...preferences,
      capabilities: [...viewer.twin.rights.of(user).capabilities].sort(),
      defaultApp: user.default_app,
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

const users = ({ twin }: Viewer) => twin.tables.table("users");

/** The columns that a request changes. @throws RestError 400 */
function changesOf({ twin, arguments: given }: Call) {
  const roles = given.list("roles");
  const unknown = roles?.find((role) => !twin.tables.table("roles").get(role));
  if (unknown !== undefined) throw handlerError(400, `Role=${unknown} does not exist.`);
  const password = given.text("password");
  return omitUndefined({
    email: given.get("email"),
    realname: given.get("realname"),
    default_app: given.text("defaultApp"),
    roles: roles?.length === 0 ? undefined : roles,
    password_sha256: password === undefined ? undefined : sha256(password),
  });
}

/** Arguments of a password change. */
const passwordArguments = ["oldpassword", "password"];

/** Requires the old password of an account that may not manage accounts, and checks it whenever given. @throws RestError 400 */
function checkOldPassword(call: Call, name: string): void {
  const given = call.arguments.text("oldpassword");
  if (given === undefined && (may(call, "edit_user") || !call.arguments.has("password"))) return;
  if (given === undefined || users(call).get(name)?.password_sha256 !== sha256(given)) {
    throw handlerError(400, "The old password is missing or not correct.");
  }
}

export const userCollection: ObjectDeclaration = {
  id: "user",
  title: "users",
  path: PATH,
  what: "the accounts",
  one: "an account",
  changeCapability: "edit_user",
  links: { create: "_new" },
  settings: (name) => changeable.includes(name),
  entries: (viewer) =>
    users(viewer)
      .all()
      // Without `edit_user`, an account sees only itself.
      .filter(({ name }) => name === userOf(viewer).name || may(viewer, "edit_user"))
      .map((user) => userEntry(viewer, user, `/services${PATH}/${segmentOf(user.name)}`)),
  create(call, name) {
    const password = call.arguments.text("password");
    if (users(call).get(name)) throw handlerError(409, `User with name=${name} already exists`);
    if (password === undefined) throw missingArgument("password");
    if (!call.arguments.has("roles")) throw handlerError(400, "A user must have at least one role.");
    users(call).insert({ ...changesOf(call), name, password_sha256: sha256(password) });
    return name;
  },
  ownChangeCapability(call) {
    const isOwn = call.params.name === userOf(call).name;
    const isPassword = Object.keys(readSettings(call)).every((name) => passwordArguments.includes(name));
    return isOwn && isPassword && !may(call, "edit_user") ? "change_own_password" : undefined;
  },
  update(call, { name }) {
    checkOldPassword(call, name);
    users(call).update(name, changesOf(call));
  },
  refuseMissing: (name) =>
    handlerError(400, `In handler 'users': Could not get info for non-existent user="${name}"`),
  remove(call, { name }) {
    if (name === userOf(call).name)
      throw handlerError(400, "You cannot remove the account that you are using.");
    const sessions = call.twin.tables.table("sessions");
    for (const { key_sha256 } of sessions.find({ user: name })) sessions.remove(key_sha256);
    users(call).remove(name);
  },
};

export const userOperations = [
  ...route({
    id: "user.current",
    method: "GET",
    path: "/authentication/current-context",
    summary: "Say who asks, and what they may do.",
    handle(call) {
      const path = "/services/authentication/current-context/context";
      const { fields: _, ...user } = userEntry(call, userOf(call), path);
      const entry = { ...user, name: "context", links: { list: "" } };
      return singleResponse(call, entry, "current-context", "/authentication/current-context", {});
    },
  }),
  ...objectRoutes(userCollection),
];
