/** Dashboards and other pages: stored, but never rendered. */
import type { Entry } from "../output/entry.ts";
import type { ViewRow } from "../world/conf-tables.ts";
import type { Viewer } from "./call.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import {
  aclOf,
  addressOf,
  checkNameFree,
  keyOfEntry,
  newOwnership,
  shareOwned,
  visibleRows,
} from "./ownership.ts";
import { missingArgument } from "./rest-error.ts";

const PATH = "/data/ui/views";

const views = ({ twin }: Viewer) => twin.tables.table("views");

function viewEntry({ twin }: Viewer, row: ViewRow): Entry {
  const [, root = ""] = /<\s*([A-Za-z_][\w.-]*)/.exec(row.data.replace(/<[?!][^>]*(?:>|$)/g, "")) ?? [];
  const [, label = row.name] = /<label>([^<]*)<\/label>/.exec(row.data) ?? [];
  return {
    name: row.name,
    path: addressOf(row, PATH, row.name),
    author: row.owner,
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "", move: "move" },
    acl: aclOf(row),
    fields: { optional: ["eai:type"], required: ["eai:data"], wildcard: [] },
    content: {
      disabled: false,
      "eai:appName": row.app,
      "eai:data": row.data,
      "eai:digest": "",
      "eai:type": "views",
      "eai:userName": row.owner,
      isDashboard: root === "dashboard" || root === "form",
      isVisible: true,
      label,
      rootNode: root,
    },
  };
}

export const viewCollection: ObjectDeclaration = {
  id: "view",
  title: "views",
  path: PATH,
  what: "the dashboards and other pages",
  one: "a page",
  links: { create: "_new", _reload: "_reload", _acl: "_acl" },
  parameters: ["digest"],
  settings: (name) => name === "eai:data" || name === "eai:type",
  entries: (viewer) => visibleRows(viewer, views(viewer).all()).map((row) => viewEntry(viewer, row)),
  create(call, name) {
    const { "eai:data": data = "" } = readSettings(call);
    if (data.trim() === "") throw missingArgument("eai:data");
    const row = { name, data, ...newOwnership(call, `views/${name}`) };
    checkNameFree(views(call), row);
    views(call).insert(row);
    return name;
  },
  update(call, entry) {
    const { "eai:data": data = "" } = readSettings(call);
    if (data.trim() === "") throw missingArgument("eai:data");
    views(call).update(keyOfEntry(entry), { data });
  },
  remove(call, entry) {
    views(call).remove(keyOfEntry(entry));
  },
  share: (call, entry, sharing) => shareOwned(views(call), entry, sharing),
};

export const viewOperations = objectRoutes(viewCollection);
