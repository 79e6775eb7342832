/** Indexes: list, create, change and remove them. */
import { findInvalid } from "../conf/formats.ts";
import { indexFormats } from "../conf/index-formats.ts";
import type { Call } from "./call.ts";
import { indexEntries, isShipped } from "./index-entries.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import { handlerError } from "./rest-error.ts";

export const indexCollection: ObjectDeclaration = {
  id: "index",
  title: "indexes",
  path: "/data/indexes",
  what: "the indexes",
  one: "an index",
  changeCapability: "indexes_edit",
  links: { create: "_new", _reload: "_reload", _acl: "_acl", _validate: "_validate" },
  parameters: ["datatype", "summarize"],
  settings: (name) => Object.hasOwn(indexFormats, name),
  entries: indexEntries,
  async create(call, name) {
    const known = await call.twin.knowledge.indexes();
    if (known.includes(name)) throw handlerError(409, `Index name=${name} already exists`);
    if (name.startsWith("_") || name.includes("kvstore")) {
      throw handlerError(
        400,
        `Index name=${name} is not valid: it cannot begin with an underscore or a hyphen, nor contain the word "kvstore".`,
      );
    }
    const { datatype, ...settings } = readIndexSettings(call);
    indexes(call).insert({ name, datatype: datatype === "metric" ? "metric" : "event", settings });
    return name;
  },
  update(call, { name }) {
    const { datatype: _, ...given } = readIndexSettings(call);
    change(call, name, { settings: { ...indexes(call).get(name)?.settings, ...given } });
  },
  async remove(call, { name }) {
    if (isShipped(name))
      throw handlerError(400, `Cannot delete index=${name}: it is one of the system's own.`);
    indexes(call).remove(name);
    await call.twin.world.remove("events", { _index: name });
  },
  actions: {
    disable: {
      summary: "Keep anything from being written to an index.",
      perform: (call, { name }) => change(call, name, { disabled: true }),
    },
    enable: {
      summary: "Let an index be written to again.",
      perform: (call, { name }) => change(call, name, { disabled: false }),
    },
  },
};

/** @throws RestError 400 for a setting with an invalid value */
function readIndexSettings(call: Call): Record<string, string> {
  const given = readSettings(call);
  const wrong = findInvalid(indexFormats, given);
  if (wrong !== undefined)
    throw handlerError(400, `Invalid value "${wrong.value}" for argument "${wrong.name}".`);
  return given;
}

const indexes = ({ twin }: Call) => twin.tables.table("indexes");

/** Changes the row of an index, and creates it for an index of the dataset. */
function change(
  call: Call,
  name: string,
  changes: { disabled?: boolean; settings?: Record<string, string> },
): void {
  if (indexes(call).get(name)) indexes(call).update(name, changes);
  else indexes(call).insert({ name, ...changes });
}

export const indexOperations = objectRoutes(indexCollection);
