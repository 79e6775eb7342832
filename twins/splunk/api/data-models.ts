/** Data models: rows of the world that `tstats` and `from` search. */

import type { Entry } from "../output/entry.ts";
import type { DataModelRow } from "../world/knowledge-tables.ts";
import type { Viewer } from "./call.ts";
import { definitionOf, readDefinition, UnservedModel } from "./data-model-definition.ts";
import { givenSettings, type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { aclOf, addressOf, type Ownership } from "./ownership.ts";
import { refused } from "./rest-error.ts";

const PATH = "/datamodel/model";
/** Rows of data models are everybody's. */
const everybodys: Ownership = { owner: "nobody", app: "search", sharing: "app" };

const models = ({ twin }: Viewer) => twin.tables.table("data_models");

function modelEntry({ twin }: Viewer, row: DataModelRow): Entry {
  const shown = definitionOf(row);
  return {
    name: row.name,
    path: addressOf(everybodys, PATH, row.name),
    author: everybodys.owner,
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "" },
    acl: aclOf(everybodys),
    fields: { optional: ["acceleration", "description"], required: [], wildcard: [] },
    content: {
      acceleration: row.acceleration,
      "acceleration.allowed": false,
      description: JSON.stringify(shown),
      disabled: false,
      displayName: "displayName" in shown ? String(shown.displayName) : row.name,
      "eai:appName": everybodys.app,
      "eai:data": JSON.stringify(shown),
      "eai:userName": everybodys.owner,
    },
  };
}

/** @throws RestError 400 */
function readModel(json: string) {
  try {
    const { given, objects } = readDefinition(json);
    return { definition: JSON.stringify(given), objects };
  } catch (error) {
    throw error instanceof UnservedModel ? refused(400, error.message) : error;
  }
}

/** @throws RestError 400 when it is no JSON */
function checkedAcceleration(json: string): string {
  try {
    JSON.parse(json);
    return json;
  } catch {
    throw refused(400, "The acceleration of a data model must be JSON.");
  }
}

/** What a request says of a model, as the row has it. */
function changesOf({ description, "eai:data": data = description, acceleration }: Record<string, string>) {
  return {
    ...(data === undefined ? {} : readModel(data)),
    ...(acceleration === undefined ? {} : { acceleration: checkedAcceleration(acceleration) }),
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
    if (models(call).get(name)) throw refused(409, `An object with name=${name} already exists`);
    models(call).insert({ name, ...changesOf(givenSettings(call)) });
    return name;
  },
  update(call, { name }) {
    models(call).update(name, changesOf(givenSettings(call)));
  },
  remove(call, { name }) {
    models(call).remove(name);
  },
};

export const dataModelOperations = objectRoutes(dataModelCollection);
