/** Apps: names that own other objects. */
import type { Entry } from "../output/entry.ts";
import type { AppRow } from "../world/conf-tables.ts";
import { systemAcl } from "./acl.ts";
import type { Call, Viewer } from "./call.ts";
import { entryOfCall, singleResponse } from "./collection.ts";
import { segmentOf } from "./name-segment.ts";
import { type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { handlerError } from "./rest-error.ts";
import { route } from "./route.ts";

const PATH = "/apps/local";
/** Apps that can be neither removed nor disabled. */
const coreApps: readonly string[] = ["launcher", "search"];

const changeable = [
  "author",
  "check_for_updates",
  "configured",
  "description",
  "label",
  "version",
  "visible",
];
/** Additional arguments of a new app. `template` names the pages that it would start with. */
const onlyNew = ["auth", "explicit_appname", "filename", "session", "template", "update"];

function appEntry({ twin }: Viewer, row: AppRow): Entry {
  const change = row.disabled ? "enable" : "disable";
  const removable = !coreApps.includes(row.name);
  return {
    name: row.name,
    path: `/servicesNS/nobody/system${PATH}/${segmentOf(row.name)}`,
    author: "nobody",
    updatedMs: twin.startedMs,
    links: {
      list: "",
      _reload: "_reload",
      edit: "",
      ...(removable && { remove: "", [change]: change }),
    },
    acl: { ...systemAcl, sharing: "app", removable },
    fields: { optional: changeable, required: [], wildcard: [] },
    content: {
      author: row.author,
      check_for_updates: true,
      configured: row.configured,
      core: coreApps.includes(row.name),
      description: row.description,
      details: "",
      disabled: row.disabled,
      label: row.label,
      managed_by_deployment_client: false,
      show_in_nav: true,
      state_change_requires_restart: false,
      version: row.version,
      visible: row.visible,
    },
  };
}

const apps = ({ twin }: Viewer) => twin.tables.table("apps");

/** The columns that a request changes. */
function changesOf({ arguments: given }: Call) {
  return omitUndefined({
    author: given.get("author"),
    description: given.get("description"),
    label: given.get("label"),
    version: given.get("version"),
    configured: given.optionalFlag("configured"),
    visible: given.optionalFlag("visible"),
  });
}

const setState =
  (state: "enabled" | "disabled") =>
  (call: Call, { name }: Entry) => {
    if (coreApps.includes(name)) throw handlerError(400, `The app '${name}' cannot be switched off.`);
    apps(call).update(name, { disabled: state === "disabled" });
  };

export const appCollection: ObjectDeclaration = {
  id: "app",
  title: "localapps",
  path: PATH,
  what: "the apps",
  one: "an app",
  changeCapability: "edit_local_apps",
  links: { create: "_new", _reload: "_reload" },
  parameters: ["refresh"],
  settings: (name) => changeable.includes(name) || onlyNew.includes(name),
  entries: (viewer) =>
    apps(viewer)
      .all()
      .map((row) => appEntry(viewer, row)),
  create(call, name) {
    if (call.arguments.flag("filename", false)) {
      throw handlerError(400, "Installing an app from a file is not served: make it by its name.");
    }
    if (apps(call).get(name)) throw handlerError(409, `App name=${name} already exists`);
    apps(call).insert({ label: name, version: "1.0.0", visible: false, ...changesOf(call), name });
    return name;
  },
  update(call, { name }) {
    apps(call).update(name, changesOf(call));
  },
  remove(call, { name }) {
    if (coreApps.includes(name)) throw handlerError(400, `The app '${name}' cannot be removed.`);
    apps(call).remove(name);
  },
  actions: {
    disable: { summary: "Switch an app off.", perform: setState("disabled") },
    enable: { summary: "Switch an app on.", perform: setState("enabled") },
  },
};

export const appOperations = [
  ...objectRoutes(appCollection),
  ...route({
    id: "app.setup",
    method: "GET",
    path: `${PATH}/:name/setup`,
    summary: "Say how an app is set up: none here has a page for it.",
    async handle(call) {
      const { name } = await entryOfCall(call, appCollection);
      throw handlerError(404, `Setup configuration file does not exist for app=${name}.`);
    },
  }),
  ...route({
    id: "app.update_info",
    method: "GET",
    path: `${PATH}/:name/update`,
    summary: "Say whether there is a newer version of an app: there is none.",
    async handle(call) {
      const { fields: _, ...entry } = await entryOfCall(call, appCollection);
      return singleResponse(call, { ...entry, links: { list: "" }, content: {} }, "localapps", PATH, {});
    },
  }),
];
