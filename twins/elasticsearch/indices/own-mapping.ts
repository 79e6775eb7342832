/** An index with a mapping of its own: its definition, and the coercion of values written to it. */
import type { FieldCatalog, IndexMapping, NameMisfit, NewField } from "@offhook/log-store/fields";
import { coerce } from "@offhook/log-store/store/coerce";
import type { Coerced } from "@offhook/log-store/store/column-value";
import type { Leaf } from "@offhook/log-store/store/json-leaves";
import { isTrue } from "../json/flag.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { readJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { VendorError } from "../vendor/error.ts";
import type { Aliases } from "./aliases.ts";
import { coerceMapped } from "./coerce-mapped.ts";
import { dynamicField } from "./dynamic-field.ts";
import { type FieldPlace, fieldsOf, isSourceOnly, nodeOf } from "./mapped-field.ts";
import {
  type Dynamic,
  emptyMapping,
  type FieldNode,
  type MappingNode,
  type ObjectNode,
} from "./mapping-tree.ts";
import { mergeFields, mergeMappings } from "./merge-mappings.ts";
import { normalizersOf } from "./normalizer.ts";
import { readMapping } from "./read-mapping.ts";
import { showMapping } from "./show-mapping.ts";

/** The definition at creation and all later additions. */
export interface IndexDefinition {
  readonly mapping: ObjectNode;
  /** By full name, such as `index.number_of_replicas`. */
  readonly settings: JsonObject;
  readonly aliases: Aliases;
  /** Milliseconds since the Unix epoch. */
  readonly createdMs: number;
}

export class OwnMapping implements IndexMapping {
  readonly fields: readonly NewField[];
  readonly described: IndexDefinition;
  readonly #place: FieldPlace;
  /** `copy_to` targets by declared name. */
  readonly #copies = new Map<string, readonly string[]>();
  /** Fields that a declared name fills. */
  readonly #routes = new Map<string, readonly NewField[]>();
  /** Fields that a dynamically added name fills. */
  readonly #dynamicRoutes = new Map<string, { node: FieldNode; fields: readonly NewField[] }>();

  constructor(index: string, described: IndexDefinition) {
    this.described = described;
    this.#place = {
      index,
      normalizers: normalizersOf(described.settings),
      nested: nestedObjects("", described.mapping),
    };
    const nodes = new Map<string, FieldNode>();
    collect("", described.mapping, nodes);
    for (const [name, node] of nodes) {
      this.#routes.set(name, fieldsOf(name, node, this.#place));
      const targets = copyTargets(node);
      if (targets.length > 0) this.#copies.set(name, targets);
    }
    const fields = [...this.#routes.values()].flat();
    this.fields = [...new Map(fields.map((field) => [field.name, field])).values()];
  }

  /** Restores an index from its definition as JSON text. */
  static read(index: string, definition: string): OwnMapping {
    const { mapping = {}, settings = {}, aliases = {}, createdMs = 0 } = asObject(readJson(definition));
    return new OwnMapping(index, {
      mapping: readMapping(mapping),
      settings: asObject(settings),
      aliases: Object.fromEntries(
        Object.entries(asObject(aliases)).map(([name, given]) => [name, asObject(given)]),
      ),
      createdMs: Number(createdMs),
    });
  }

  definition(fields: readonly NewField[]): string {
    return compactJson({ ...this.described, mapping: showMapping(this.whole(fields)) });
  }

  route(
    name: string,
    leaves: readonly Leaf[],
    known: (name: string) => NewField | undefined,
  ): readonly NewField[] | NameMisfit {
    const own = this.#routeOne(name, leaves, known);
    if ("kind" in own) return own;
    const [first] = own;
    const node = this.#routes.has(name) ? undefined : first && nodeOf(first);
    const targets = this.#copies.get(name) ?? (node ? copyTargets(node) : []);
    if (targets.length === 0) return own;
    const all = [...own];
    for (const target of targets) {
      const copied = this.#routeOne(target, leaves, known);
      if ("kind" in copied) return copied;
      all.push(...copied);
    }
    return all;
  }

  #routeOne(
    name: string,
    leaves: readonly Leaf[],
    known: (name: string) => NewField | undefined,
  ): readonly NewField[] | NameMisfit {
    const declared = this.#routes.get(name);
    if (declared) return declared;
    const there = known(name);
    const node = there && nodeOf(there);
    return node ? this.#dynamicRoute(name, node) : this.#routeNew(name, leaves);
  }

  coerce(leaf: Leaf, field: NewField): Coerced {
    const node = nodeOf(field);
    if (!node) return coerce(leaf, field);
    const { null_value = null } = node.parameters;
    const given = leaf.kind === "null" ? leafOf(null_value, leaf.offset) : leaf;
    if (!given) return { value: undefined };
    const coerced = coerceMapped(given, field, node);
    const isTolerated = !("value" in coerced) && isTrue(node.parameters.ignore_malformed);
    return isTolerated ? { value: undefined } : coerced;
  }

  /** The current mapping. @param fields all of them, including those that documents added */
  whole(fields: readonly NewField[]): ObjectNode {
    const names = new Set(fields.map(({ name }) => name));
    return fields.reduce((mapping, field) => {
      const node = nodeOf(field);
      const dot = field.name.lastIndexOf(".");
      const isSubField = names.has(field.name.slice(0, Math.max(dot, 0)));
      if (!node || isSubField || this.#routes.has(field.name)) return mapping;
      return mergeMappings(mapping, objectAround(field.name.split("."), node));
    }, this.described.mapping);
  }

  #dynamicRoute(name: string, node: FieldNode): readonly NewField[] {
    const before = this.#dynamicRoutes.get(name);
    if (before?.node === node) return before.fields;
    const fields = fieldsOf(name, node, this.#place);
    this.#dynamicRoutes.set(name, { node, fields });
    return fields;
  }

  /** Routes a name that is not in the mapping, by the `dynamic` option of its nearest object. */
  #routeNew(name: string, leaves: readonly Leaf[]): readonly NewField[] | NameMisfit {
    const parts = name.split(".");
    let node: MappingNode = this.described.mapping;
    let dynamic: Dynamic = this.described.mapping.dynamic ?? "true";
    let place = "_doc";
    let missing = name;
    for (const [depth, part] of parts.entries()) {
      if (node.kind === "field")
        return isSourceOnly(node) ? [] : valueThere(parts.slice(0, depth).join("."), node);
      if (!node.enabled) return [];
      dynamic = node.dynamic ?? dynamic;
      const inner: MappingNode | undefined = node.properties.get(part);
      if (!inner) {
        missing = part;
        break;
      }
      node = inner;
      place = parts.slice(0, depth + 1).join(".");
    }
    if (node.kind === "field") return [];
    if (!node.enabled) return [];
    if (place === name) return objectThere(name);
    if (dynamic === "false" || dynamic === "runtime") return [];
    if (dynamic === "strict") {
      const field = place === "_doc" ? missing : `${place}.${missing}`;
      return {
        kind: "strict",
        field,
        type: "",
        reason: `mapping set to strict, dynamic introduction of [${missing}] within [${place}] is not allowed`,
      };
    }
    if (leaves.length === 0) return [];
    try {
      const made = leaves.map((leaf) => dynamicField(name, leaf, this.described.mapping.others));
      const merged = made.reduce((there, added) => mergeFields(name, there, added));
      return fieldsOf(name, merged, this.#place);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return { kind: "mapping_conflict", field: name, type: "", reason: error.message };
    }
  }
}

/** Collects the fields below an object, by full name. */
function collect(path: string, node: ObjectNode, found: Map<string, FieldNode>): void {
  for (const [name, inner] of node.properties) {
    const full = path === "" ? name : `${path}.${name}`;
    if (inner.kind === "field") found.set(full, inner);
    else if (inner.enabled) collect(full, inner, found);
  }
}

/** Paths of the nested objects below an object, innermost first. */
function nestedObjects(path: string, node: ObjectNode): string[] {
  return [...node.properties].flatMap(([name, inner]) => {
    if (inner.kind === "field") return [];
    const full = path === "" ? name : `${path}.${name}`;
    const within = nestedObjects(full, inner);
    return inner.type === "nested" ? [...within, full] : within;
  });
}

function objectAround([name = "", ...rest]: readonly string[], node: FieldNode): ObjectNode {
  const inner = rest.length === 0 ? node : objectAround(rest, node);
  return { ...emptyMapping, properties: new Map([[name, inner]]) };
}

function copyTargets({ parameters: { copy_to } }: FieldNode): string[] {
  return Array.isArray(copy_to) ? copy_to.map(String) : [];
}

/** The value that replaces `null`; `undefined` for none. */
function leafOf(json: Json, offset: number): Leaf | undefined {
  const text = String(json);
  if (typeof json === "string") return { kind: "string", text, offset };
  if (typeof json === "boolean") return { kind: "boolean", text, offset };
  if (typeof json === "number") return { kind: Number.isInteger(json) ? "integer" : "decimal", text, offset };
  return undefined;
}

function valueThere(name: string, { type }: FieldNode): NameMisfit {
  return { kind: "object_for_value", field: name, type, reason: `field [${name}] cannot hold an object` };
}

function objectThere(name: string): NameMisfit {
  return {
    kind: "value_for_object",
    field: name,
    type: "object",
    reason: `object mapping for [${name}] tried to parse field [${name}] as object, but found a concrete value`,
  };
}

function asObject(json: Json): JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
}

/** The mapping of a created index; `undefined` for an index of the dataset. */
export function ownMapping(fields: FieldCatalog, index: string): OwnMapping | undefined {
  const mapping = fields.indices.get(index);
  return mapping instanceof OwnMapping ? mapping : undefined;
}
