/** Merges mappings: additions must agree with what is there. */
import { javaText } from "../json/token.ts";
import { VendorError } from "../vendor/error.ts";
import type { FieldNode, MappingNode, ObjectNode } from "./mapping-tree.ts";

/** Parameters that may change on an existing field. */
const updatable = new Set([
  "boost",
  "coerce",
  "eager_global_ordinals",
  "fielddata",
  "fielddata_frequency_filter",
  "ignore_above",
  "ignore_malformed",
  "meta",
  "null_value",
  "search_analyzer",
  "search_quote_analyzer",
  "split_queries_on_whitespace",
  "copy_to",
]);

/** The effective value of an absent parameter. */
function defaultOf(type: string, parameter: string): string {
  if (parameter === "format") return "strict_date_optional_time||epoch_millis";
  if (parameter === "analyzer") return "default";
  if (parameter === "norms") return type === "text" ? "true" : "false";
  if (parameter === "index" || parameter === "doc_values") return "true";
  return parameter === "store" ? "false" : "null";
}

/** Adds one mapping to another. @param path of the object, for errors @throws VendorError where they disagree */
export function mergeMappings(there: ObjectNode, added: ObjectNode, path = ""): ObjectNode {
  if (path !== "" && there.enabled !== added.enabled) {
    throw mappingConflict(
      `the [enabled] parameter can't be updated for the object mapping [${path}]`,
      "mapper_exception",
    );
  }
  const [wasNested, isNested] = [there.type === "nested", added.type === "nested"];
  if (path !== "" && wasNested !== isNested) {
    throw mappingConflict(
      wasNested
        ? `cannot change object mapping from nested to non-nested`
        : `cannot change object mapping from non-nested to nested`,
    );
  }
  const properties = new Map(there.properties);
  for (const [name, node] of added.properties) {
    const inner = path === "" ? name : `${path}.${name}`;
    const known = properties.get(name);
    properties.set(name, known ? mergeNodes(inner, known, node) : node);
  }
  return {
    ...there,
    type: there.type ?? added.type,
    dynamic: added.dynamic ?? there.dynamic,
    others: { ...there.others, ...added.others },
    properties,
  };
}

function mergeNodes(path: string, there: MappingNode, added: MappingNode): MappingNode {
  if (there.kind === "object" && added.kind === "object") return mergeMappings(there, added, path);
  if (there.kind === "object" || added.kind === "object") {
    throw mappingConflict(`can't merge a non object mapping [${path}] with an object mapping`);
  }
  return mergeFields(path, there, added);
}

/** @throws VendorError where the fields disagree */
export function mergeFields(path: string, there: FieldNode, added: FieldNode): FieldNode {
  if (there.type !== added.type) {
    throw mappingConflict(`mapper [${path}] cannot be changed from type [${there.type}] to [${added.type}]`);
  }
  const shown = (node: FieldNode, name: string) => {
    const value = node.parameters[name];
    return value === undefined ? defaultOf(node.type, name) : javaText(value);
  };
  const names = new Set([...Object.keys(there.parameters), ...Object.keys(added.parameters)]);
  const broken = [...names].filter(
    (name) => !updatable.has(name) && shown(there, name) !== shown(added, name),
  );
  if (broken.length > 0) {
    const lines = broken.map(
      (name) =>
        `\n\tCannot update parameter [${name}] from [${shown(there, name)}] to [${shown(added, name)}]`,
    );
    throw mappingConflict(`Mapper for [${path}] conflicts with existing mapper:${lines.join("")}`);
  }
  const fields = new Map(there.fields);
  for (const [name, node] of added.fields) {
    const known = fields.get(name);
    fields.set(name, known ? mergeFields(`${path}.${name}`, known, node) : node);
  }
  return { ...there, parameters: added.parameters, fields };
}

function mappingConflict(reason: string, type = "illegal_argument_exception"): VendorError {
  return new VendorError(400, { type, reason });
}
