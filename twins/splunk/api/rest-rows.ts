/** Collections of the API as rows, for the command `rest`. */
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Content, Entry } from "../output/entry.ts";
import { isoSecond } from "../output/timestamp.ts";
import { SERVER_NAME } from "../product.ts";
import type { RowField, Rows } from "../spl/relation/rows.ts";
import { appCollection } from "./apps.ts";
import type { Viewer } from "./call.ts";
import type { Collection } from "./collection.ts";
import { dataModelCollection } from "./data-models.ts";
import { indexCollection } from "./indexes.ts";
import { jobCollection } from "./jobs.ts";
import { messageCollection } from "./messages-to-admin.ts";
import { nameOfSegment } from "./name-segment.ts";
import { roleCollection } from "./roles.ts";
import { savedSearchCollection } from "./saved-searches.ts";
import { infoCollection } from "./server.ts";
import { userCollection } from "./users.ts";
import { viewCollection } from "./views.ts";

const collections: readonly Collection[] = [
  appCollection,
  dataModelCollection,
  indexCollection,
  infoCollection,
  jobCollection,
  messageCollection,
  roleCollection,
  savedSearchCollection,
  userCollection,
  viewCollection,
];

/**
 * Reads a collection or one of its entries; `undefined` for an unknown path.
 * @param user owner of the search, who limits what is visible
 */
export async function restRows(twin: LogQueryTwin, path: string, user: string): Promise<Rows | undefined> {
  const [bare = ""] = path.split("?");
  const [, owner, app, local] =
    /^\/?servicesNS\/([^/]+)\/([^/]+)(\/.*?)\/?$/.exec(bare) ??
    /^()()((?:\/.*?)?)\/?$/.exec(bare.replace(/^\/?services\b/, "")) ??
    [];
  const collection = collections.find((one) => local === one.path || local?.startsWith(`${one.path}/`));
  if (collection === undefined || local === undefined) return undefined;
  const viewer: Viewer = {
    twin,
    user: twin.tables.table("users").get(user),
    owner: owner === "" ? undefined : owner,
    app: app === "" ? undefined : app,
  };
  const entries = await collection.entries(viewer, {});
  const segment = local.slice(collection.path.length + 1);
  const found = segment === "" ? entries : entries.filter((entry) => isNamed(entry, segment));
  return rowsOf(found.map((entry) => flat(entry, twin)));
}

/** Whether a path segment names an entry; a search may contain the name unencoded. */
function isNamed({ name }: Entry, segment: string): boolean {
  if (name === segment) return true;
  try {
    return name === nameOfSegment(segment);
  } catch {
    return false;
  }
}

type Flat = ReadonlyMap<string, string | string[]>;

function flat({ name, path, author, updatedMs, acl, content }: Entry, twin: LogQueryTwin): Flat {
  const values = new Map<string, string | string[]>();
  const put = (key: string, value: Content): void => {
    if (value === null || value === "") return;
    if (Array.isArray(value)) {
      const texts = value.map((item) => (typeof item === "object" ? JSON.stringify(item) : textOf(item)));
      if (texts.length > 0) values.set(key, texts);
    } else if (typeof value === "object") {
      for (const [member, inner] of Object.entries(value)) put(`${key}.${member}`, inner);
    } else values.set(key, textOf(value));
  };
  for (const [key, value] of Object.entries(content)) put(key, value);
  put("author", author);
  put("eai:acl.app", acl.app);
  put("eai:acl.owner", acl.owner);
  put("eai:acl.perms.read", acl.read);
  put("eai:acl.perms.write", acl.write);
  put("eai:acl.sharing", acl.sharing);
  put("id", twin.address + path);
  put("splunk_server", SERVER_NAME);
  put("title", name);
  put("updated", isoSecond(updatedMs, twin.timeZone));
  return values;
}

function textOf(value: string | number | boolean | null): string {
  return typeof value === "boolean" ? (value ? "1" : "0") : String(value ?? "");
}

function rowsOf(flats: readonly Flat[]): Rows {
  const names = [...new Set(flats.flatMap((one) => [...one.keys()]))].sort();
  const fields = names.map((name): RowField => {
    const multi = flats.some((one) => Array.isArray(one.get(name)));
    return { name, type: "text", multi };
  });
  const rows = flats.map((one) =>
    fields.map(({ name, multi }) => {
      const value = one.get(name) ?? null;
      return multi && typeof value === "string" ? [value] : value;
    }),
  );
  return { fields, rows };
}
