/**
 * Creates, changes and removes indices; in `vendor` fidelity alone. The definition of an index flows one way:
 * - `read-mapping.ts` parses a request's mapping to a tree, and the tree becomes an `OwnMapping`: fields, and the
 * coercion of values;
 * - the store keeps it beside the fields, each with a column and postings of its own (`FieldCatalog.of`);
 * - writers coerce each value by it, and a search sees the fields of its indices alone.
 */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { VendorError } from "../vendor/error.ts";
import { uuidOf } from "../vendor/node.ts";
import { readAlias } from "./aliases.ts";
import { checkTemplates } from "./dynamic-template.ts";
import { checkIndexName, invalidIndexName } from "./errors.ts";
import { aliasTargets, type IndexRegistry, knownIndices } from "./index-registry.ts";
import { mergeMappings } from "./merge-mappings.ts";
import { type IndexDefinition, OwnMapping, ownMapping } from "./own-mapping.ts";
import { readMapping } from "./read-mapping.ts";
import { readSettings } from "./settings.ts";

/** Reads the body of a create request. @param taken names of indices @throws VendorError */
export function readDefinition(
  body: JsonObject,
  createdMs: number,
  taken: ReadonlySet<string>,
): IndexDefinition {
  const { mappings = {}, settings = {}, aliases = {}, ...others } = body;
  for (const key of Object.keys(others)) {
    throw parseException(`unknown key [${key}] for create index`);
  }
  const mapping = readMapping(mappings);
  checkTemplates(mapping.others.dynamic_templates);
  return {
    mapping,
    settings: readSettings(asMap("settings", settings)),
    aliases: Object.fromEntries(
      Object.entries(asMap("aliases", aliases)).map(([name, given]) => [name, readAlias(name, given, taken)]),
    ),
    createdMs,
  };
}

/** @throws VendorError for an existing name or an invalid body */
export async function createIndex(name: string, body: JsonObject, registry: IndexRegistry): Promise<void> {
  checkIndexName(name);
  if ((await aliasTargets(registry)).has(name)) throw invalidIndexName(name, "already exists as alias");
  const taken = new Set(await knownIndices(registry));
  const made = registry.templates.apply(name, body);
  const definition = readDefinition(made, Math.floor(registry.clock.now()), taken);
  const store = await registry.store();
  await store.exclusively(async (writer) => {
    if (await indexExists(name, store)) throw alreadyExistsError(name);
    await writer.defineIndex(name, new OwnMapping(name, definition));
  });
}

/** Whether an index was created or has documents. */
async function indexExists(name: string, store: LogStore): Promise<boolean> {
  return store.fields.indices.has(name) || (await store.counts()).has(name);
}

/** Adds to the mappings of all named indices or of none. @throws VendorError */
export async function changeMappings(
  names: readonly string[],
  body: JsonObject,
  registry: IndexRegistry,
): Promise<void> {
  const added = readMapping(body);
  checkTemplates(added.others.dynamic_templates);
  const store = await registry.store();
  await store.exclusively(async (writer) => {
    const changed = names.flatMap((name) => {
      const own = ownMapping(writer.fields, name);
      if (!own) return [];
      const mapping = mergeMappings(own.whole(writer.fields.of(name).all()), added);
      return [[name, new OwnMapping(name, { ...own.described, mapping })] as const];
    });
    for (const [name, mapping] of changed) await writer.defineIndex(name, mapping);
  });
}

/** @throws VendorError 404 for a missing index, before any is removed */
export async function removeIndices(names: readonly string[], registry: IndexRegistry): Promise<void> {
  const store = await registry.store();
  await store.exclusively(async (writer) => {
    for (const name of names) {
      await writer.removeIndex(name);
      registry.datasetAliases.delete(name);
    }
  });
}

function alreadyExistsError(name: string): VendorError {
  const uuid = uuidOf(name);
  return new VendorError(400, {
    type: "resource_already_exists_exception",
    reason: `index [${name}/${uuid}] already exists`,
    index_uuid: uuid,
    index: name,
  });
}

function asMap(key: string, json: Json): JsonObject {
  if (isObject(json)) return json;
  throw parseException(`key [${key}] must be an object`);
}

function parseException(reason: string): VendorError {
  return new VendorError(400, { type: "parse_exception", reason });
}
