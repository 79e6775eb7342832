/** An index that maps its documents itself: its definition, and what becomes of the values that are written to it. */
import { utc } from "../../datasets/dates/time-zone.ts";
import type { FieldMapping, FieldType, IndexMapping, NameMisfit, NewField } from "../../datasets/fields.ts";
import { type Coerced, coerce, typeOfLeaf } from "../../datasets/store/coerce.ts";
import type { Leaf } from "../../datasets/store/json-leaves.ts";
import { defaultDateFormat, readDateFormat } from "../dates/java-format.ts";
import { formatIp, parseIp } from "../ip-address.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { readJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import {
  type Dynamic,
  emptyMapping,
  type FieldNode,
  type MappingNode,
  mergeMappings,
  type ObjectNode,
  readMapping,
  showField,
  showMapping,
} from "./mapping-tree.ts";

/** What was asked for when an index was made, and what was added since. */
export interface IndexDefinition {
  readonly mapping: ObjectNode;
  /** `index.number_of_replicas` and so on. */
  readonly settings: JsonObject;
  readonly aliases: JsonObject;
  /** Milliseconds since the Unix epoch. */
  readonly createdMs: number;
}

export class OwnMapping implements IndexMapping {
  readonly definition: string;
  readonly fields: readonly NewField[];
  readonly described: IndexDefinition;
  readonly #index: string;
  readonly #nodes = new Map<string, FieldNode>();
  /** Of a name, the fields that it goes to. */
  readonly #routes = new Map<string, readonly NewField[]>();

  constructor(index: string, described: IndexDefinition) {
    this.described = described;
    this.#index = index;
    this.definition = compactJson({ ...described, mapping: showMapping(described.mapping) });
    this.#collect("", described.mapping);
    for (const [name, node] of this.#nodes) {
      for (const target of copyTargets(node)) {
        const others = this.#routes.get(target) ?? [];
        this.#routes.set(name, [
          ...(this.#routes.get(name) ?? []),
          ...others.filter((field) => field.name === target),
        ]);
      }
    }
    const fields = [...this.#routes.values()].flat();
    this.fields = [...new Map(fields.map((field) => [field.name, field])).values()];
  }

  /** The same index, from the text of its definition. */
  static read(index: string, definition: string): OwnMapping {
    const { mapping = {}, settings = {}, aliases = {}, createdMs = 0 } = asObject(readJson(definition));
    return new OwnMapping(index, {
      mapping: readMapping(mapping),
      settings: asObject(settings),
      aliases: asObject(aliases),
      createdMs: Number(createdMs),
    });
  }

  route(name: string, leaf: Leaf): readonly NewField[] | NameMisfit {
    const known = this.#routes.get(name);
    if (known) return known;
    return this.#routeNew(name, leaf);
  }

  coerce(leaf: Leaf, field: NewField): Coerced {
    const node = this.#nodes.get(field.name);
    if (!node) return coerce(leaf, field);
    const coerced = coerceMapped(leaf, field, node);
    const tolerated =
      node.parameters.ignore_malformed === true || node.parameters.ignore_malformed === "true";
    return tolerated && !("value" in coerced) ? { value: undefined } : coerced;
  }

  /** The mapping as it is now. @param added names that documents have added */
  shown(added: readonly (readonly [string, FieldNode])[]): JsonObject {
    let whole = this.described.mapping;
    for (const [name, node] of added) whole = mergeMappings(whole, objectAround(name.split("."), node));
    return showMapping(whole);
  }

  /** The mapping of one field; `undefined` when it is none of the mapping's. */
  shownField(name: string): JsonObject | undefined {
    const node = this.#nodes.get(name);
    return node && showField(node);
  }

  /** A name that the mapping does not have: what its nearest object says. */
  #routeNew(name: string, leaf: Leaf): readonly NewField[] | NameMisfit {
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
    return [this.#dynamicField(name, leaf)];
  }

  #dynamicField(name: string, leaf: Leaf): NewField {
    const { date_detection } = this.described.mapping.others;
    const type = typeOfLeaf(leaf);
    const detected = type === "date" && date_detection === false ? "text" : type;
    return { name, type: detected, multi: false, index: this.#index };
  }

  #collect(path: string, node: ObjectNode): void {
    for (const [name, inner] of node.properties) {
      const full = path === "" ? name : `${path}.${name}`;
      if (inner.kind === "object") {
        if (inner.enabled) this.#collect(full, inner);
      } else this.#addField(full, inner);
    }
  }

  #addField(name: string, node: FieldNode): void {
    this.#nodes.set(name, node);
    const field = this.#fieldOf(name, node);
    const fields = field ? [field] : [];
    for (const [sub, inner] of node.fields) {
      if (field?.mapping?.keywords?.has(sub)) continue;
      this.#nodes.set(`${name}.${sub}`, inner);
      const added = this.#fieldOf(`${name}.${sub}`, inner);
      if (added) fields.push(added);
    }
    this.#routes.set(name, fields);
  }

  #fieldOf(name: string, node: FieldNode): NewField | undefined {
    const type = heldAs.get(node.type);
    if (type === undefined) return undefined;
    const format = type === "date" ? formatOf(node) : undefined;
    const mapping: FieldMapping = {
      type: node.type,
      ...(format === undefined ? {} : { format }),
      ...(type === "text" ? { keywords: wholeValues(node) } : {}),
    };
    return { name, type, multi: false, index: this.#index, mapping };
  }
}

function objectAround([name = "", ...rest]: readonly string[], node: FieldNode): ObjectNode {
  const inner = rest.length === 0 ? node : objectAround(rest, node);
  return { ...emptyMapping, properties: new Map([[name, inner]]) };
}

/** What the column of a field of each type holds; any other type is kept in the source alone. */
const heldAs = new Map<string, FieldType>([
  ["keyword", "keyword"],
  ["constant_keyword", "keyword"],
  ["wildcard", "keyword"],
  ["ip", "keyword"],
  ["text", "text"],
  ["match_only_text", "text"],
  ["long", "long"],
  ["integer", "long"],
  ["short", "long"],
  ["byte", "long"],
  ["unsigned_long", "unsigned_long"],
  ["double", "double"],
  ["float", "double"],
  ["half_float", "double"],
  ["scaled_float", "double"],
  ["boolean", "boolean"],
  ["date", "date"],
  ["date_nanos", "date"],
]);

function isSourceOnly({ type }: FieldNode): boolean {
  return !heldAs.has(type);
}

/** Keywords beside a text hold the same values: they need no column. */
function wholeValues({ fields }: FieldNode): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [name, { type, parameters }] of fields) {
    const plain = parameters.null_value === undefined && parameters.normalizer === undefined;
    if (heldAs.get(type) === "keyword" && type !== "ip" && plain) found.set(name, ignoreAbove(parameters));
  }
  return found;
}

/** The longest value of a keyword without a limit: what Lucene holds. */
const MAX_KEYWORD = 32_766;

function ignoreAbove({ ignore_above }: JsonObject): number {
  return ignore_above === undefined ? MAX_KEYWORD : Number(ignore_above);
}

function formatOf({ parameters }: FieldNode): string | undefined {
  return typeof parameters.format === "string" ? parameters.format : undefined;
}

function copyTargets({ parameters: { copy_to } }: FieldNode): string[] {
  if (typeof copy_to === "string") return [copy_to];
  return Array.isArray(copy_to) ? copy_to.map(String) : [];
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

const ranges = new Map<string, [least: bigint, greatest: bigint]>([
  ["integer", [-(2n ** 31n), 2n ** 31n - 1n]],
  ["short", [-(2n ** 15n), 2n ** 15n - 1n]],
  ["byte", [-(2n ** 7n), 2n ** 7n - 1n]],
]);
/** The largest number that a half has. */
const MAX_HALF = 65_504;

function coerceMapped(leaf: Leaf, field: NewField, node: FieldNode): Coerced {
  const { type, parameters } = node;
  if (type === "ip") return coerceIp(leaf);
  if (field.type === "keyword") {
    return { value: [...leaf.text].length > ignoreAbove(parameters) ? undefined : leaf.text };
  }
  if (field.type === "date") return coerceDate(leaf, field);
  if (field.type !== "long" && field.type !== "double" && field.type !== "unsigned_long") {
    return coerce(leaf, field);
  }
  const strict = parameters.coerce === false || parameters.coerce === "false";
  if (strict) {
    const reason = uncoerced(leaf, type, field.type);
    if (reason !== undefined) return { kind: "not_a_number", reason };
  }
  const coerced = coerce(leaf, field);
  if (!("value" in coerced)) {
    return coerced.kind === "not_finite"
      ? { ...coerced, reason: coerced.reason.replace("[double]", `[${type}]`) }
      : coerced;
  }
  const { value } = coerced;
  if (typeof value === "bigint") {
    const range = ranges.get(type);
    const outside = range && (value < range[0] || value > range[1]);
    return outside
      ? {
          kind: "out_of_range",
          reason: `Value [${leaf.text}] is out of range for ${type === "integer" ? "an" : "a"} ${type}`,
        }
      : coerced;
  }
  return typeof value === "number" ? fitDouble(value, type, parameters) : coerced;
}

/** Addresses are held as the vendor prints them, so that equal ones are equal texts. */
function coerceIp({ text }: Leaf): Coerced {
  const address = parseIp(text);
  return address === undefined
    ? { kind: "not_an_address", reason: `'${text}' is not an IP string literal.` }
    : { value: formatIp(address) };
}

function uncoerced({ kind, text }: Leaf, type: string, held: FieldType): string | undefined {
  const named = type.charAt(0).toUpperCase() + type.slice(1);
  if (kind === "string") return `${named} value passed as String`;
  return held === "long" && kind === "decimal" && !Number.isInteger(Number(text))
    ? `${text} cannot be converted to ${named} without data loss`
    : undefined;
}

/** A number as precise as its type holds it. */
function fitDouble(value: number, type: string, { scaling_factor }: JsonObject): Coerced {
  const unfit = (shown: string): Coerced => ({
    kind: "not_finite",
    reason: `[${type}] supports only finite values, but got [${shown}]`,
  });
  switch (type) {
    case "float": {
      const single = Math.fround(value);
      return Number.isFinite(single) ? { value: single } : unfit(value > 0 ? "Infinity" : "-Infinity");
    }
    case "half_float": {
      const half = halfOf(value);
      return Math.abs(half) <= MAX_HALF
        ? { value: half }
        : unfit(Number.isInteger(value) ? `${value}.0` : String(value));
    }
    case "scaled_float": {
      const factor = Number(scaling_factor);
      return { value: Math.round(value * factor) / factor };
    }
    default:
      return { value };
  }
}

/** The nearest number of 16 bits: 11 binary digits, of halves the even one. */
function halfOf(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), -14);
  const unit = 2 ** (exponent - 10);
  const units = value / unit;
  const below = Math.floor(units);
  const rest = units - below;
  const up = rest > 0.5 || (rest === 0.5 && below % 2 !== 0);
  return (up ? below + 1 : below) * unit;
}

function coerceDate(leaf: Leaf, field: NewField): Coerced {
  const format = field.mapping?.format;
  if (format === undefined || format === defaultDateFormat) {
    return leaf.kind === "string" && leaf.text === ""
      ? { kind: "not_a_date", reason: "cannot parse empty datetime" }
      : coerce(leaf, field);
  }
  const epochMs = leaf.kind === "boolean" ? undefined : readDateFormat(format).parse(leaf.text, utc, "first");
  if (epochMs !== undefined) return { value: BigInt(epochMs) * 1000n };
  return {
    kind: "not_a_date",
    reason: `failed to parse date field [${leaf.text}] with format [${format}]`,
  };
}

function asObject(json: Json): JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
}
