/** Data models: rows of the world that `tstats` and `from` search. */

import type { Entry } from "../output/entry.ts";
import type { DataModelRow } from "../world/knowledge-tables.ts";
import type { Viewer } from "./call.ts";
import { definitionOf, readDefinition, UnservedModel } from "./data-model-definition.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import { aclOf, addressOf, type Ownership } from "./ownership.ts";
import { handlerError } from "./rest-error.ts";

const PATH = "/datamodel/model";
/** Rows of data models have no owner. */
const sharedOwnership: Ownership = { owner: "nobody", app: "search", sharing: "app" };

const models = ({ twin }: Viewer) => twin.tables.table("data_models");

function modelEntry({ twin }: Viewer, row: DataModelRow): Entry {
  const shown = definitionOf(row);
  return {
    name: row.name,
    path: addressOf(sharedOwnership, PATH, row.name),
    author: sharedOwnership.owner,
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "" },
    acl: aclOf(sharedOwnership),
    fields: { optional: ["acceleration", "description"], required: [], wildcard: [] },
    content: {
      acceleration: row.acceleration,
      "acceleration.allowed": false,
      description: JSON.stringify(shown),
      disabled: false,
      displayName: "displayName" in shown ? String(shown.displayName) : row.name,
      "eai:appName": sharedOwnership.app,
      "eai:data": JSON.stringify(shown),
      "eai:userName": sharedOwnership.owner,
    },
  };
}

/** @throws RestError 400 */
function readModel(json: string) {
  try {
    const { given, objects } = readDefinition(json);
    return { definition: JSON.stringify(given), objects };
  } catch (error) {
    throw error instanceof UnservedModel ? handlerError(400, error.message) : error;
  }
}

/** @throws RestError 400 for any other text than JSON */
function checkAcceleration(json: string): string {
  try {
    JSON.parse(json);
    return json;
  } catch {
    throw handlerError(400, "The acceleration of a data model must be JSON.");
  }
}

/** The columns that a request changes. */
function changesOf({ description, "eai:data": data = description, acceleration }: Record<string, string>) {
  return {
    ...(data === undefined ? {} : readModel(data)),
    ...(acceleration === undefined ? {} : { acceleration: checkAcceleration(acceleration) }),
  };
}

export const dataModelCollection: ObjectDeclaration = {
  id: "data_model",
  title: "datamodelmodel",
  path: PATH,
  what: "the data models",
  one: "a data model",
  links: { create: "_new", _reload: "_reload", _acl: "_acl", desc: "desc", report: "report" },
  parameters: ["concise"],
  settings: (name) => ["description", "eai:data", "acceleration", "concise"].includes(name),
  entries: (viewer) =>
    models(viewer)
      .all()
      .map((row) => modelEntry(viewer, row)),
  create(call, name) {
    if (models(call).get(name)) throw handlerError(409, `An object with name=${name} already exists`);
    models(call).insert({ name, ...changesOf(readSettings(call)) });
    return name;
  },
  update(call, { name }) {
    models(call).update(name, changesOf(readSettings(call)));
  },
  remove(call, { name }) {
    models(call).remove(name);
  },
};

export const dataModelOperations = objectRoutes(dataModelCollection);
