/** Writes mappings as answers show them. */
import type { JsonObject } from "../json/read.ts";
import type { FieldNode, MappingNode, ObjectNode } from "./mapping-tree.ts";

/** The mapping as `GET` shows it; the inverse of `readMapping`. */
export function showMapping(node: ObjectNode): JsonObject {
  const properties = sortByName(node.properties);
  return {
    ...node.others,
    ...(node.type === undefined || (node.type === "object" && properties.length > 0)
      ? {}
      : { type: node.type }),
    ...(node.dynamic === undefined ? {} : { dynamic: node.dynamic }),
    ...(node.enabled ? {} : { enabled: false }),
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(([name, inner]) => [name, showNode(inner)])) }),
  };
}

function showNode(node: MappingNode): JsonObject {
  if (node.kind === "field") return showField(node);
  const shown = showMapping(node);
  return Object.keys(shown).length === 0 ? { type: "object" } : shown;
}

export function showField({ type, parameters, fields }: FieldNode): JsonObject {
  const inner = sortByName(fields).map(([name, node]): [string, JsonObject] => [name, showField(node)]);
  return { type, ...parameters, ...(inner.length === 0 ? {} : { fields: Object.fromEntries(inner) }) };
}

function sortByName<Value>(members: ReadonlyMap<string, Value>): [string, Value][] {
  return [...members].sort(([a], [b]) => (a < b ? -1 : 1));
}
