/**
 * Mappings as a request gives them: read, checked in the vendor's words, merged into those there are, and shown again.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/mapping.html
 */
import { readDateFormat } from "../dates/java-format.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { javaText } from "../json/token.ts";
import { type ErrorCause, VendorError } from "../vendor-error.ts";

export type Dynamic = "true" | "false" | "strict" | "runtime";

export interface ObjectNode {
  readonly kind: "object";
  /** `object` or `nested` where it was written. */
  readonly type: string | undefined;
  readonly dynamic: Dynamic | undefined;
  /** An object that is not is kept in the source alone. */
  readonly enabled: boolean;
  /** Members that are shown again and have no effect. */
  readonly others: JsonObject;
  readonly properties: ReadonlyMap<string, MappingNode>;
}

export interface FieldNode {
  readonly kind: "field";
  readonly type: string;
  readonly parameters: JsonObject;
  /** Its sub-fields. */
  readonly fields: ReadonlyMap<string, FieldNode>;
}

export type MappingNode = ObjectNode | FieldNode;

export const emptyMapping: ObjectNode = {
  kind: "object",
  type: undefined,
  dynamic: undefined,
  enabled: true,
  others: {},
  properties: new Map(),
};

/** Deepest nesting of objects, as the vendor's `index.mapping.depth.limit`. */
const MAX_DEPTH = 20;

const everyField = ["type", "fields", "copy_to", "meta", "store", "boost", "similarity"];
const scripted = ["script", "on_script_error", "time_series_dimension"];
const columned = [...everyField, ...scripted, "doc_values", "index", "null_value", "ignore_malformed"];
const numeric = [...columned, "coerce", "time_series_metric"];
const textual = [...everyField, "index", "index_options", "norms", "eager_global_ordinals"];

/** The parameters of the types that are indexed here. */
const parametersOf = new Map<string, readonly string[]>([
  [
    "keyword",
    [
      ...textual,
      ...scripted,
      "doc_values",
      "ignore_above",
      "normalizer",
      "null_value",
      "split_queries_on_whitespace",
    ],
  ],
  [
    "text",
    [
      ...textual,
      "analyzer",
      "fielddata",
      "fielddata_frequency_filter",
      "index_phrases",
      "index_prefixes",
      "position_increment_gap",
      "search_analyzer",
      "search_quote_analyzer",
      "term_vector",
    ],
  ],
  ...["long", "integer", "short", "byte", "double", "float", "half_float", "unsigned_long"].map(
    (type): [string, readonly string[]] => [type, numeric],
  ),
  ["scaled_float", [...numeric, "scaling_factor"]],
  ["date", [...columned, "format", "locale"]],
  ["date_nanos", [...columned, "format", "locale"]],
  ["boolean", columned],
  ["ip", columned],
  ["constant_keyword", ["type", "meta", "value"]],
  ["wildcard", ["type", "meta", "ignore_above", "null_value", "copy_to", "fields"]],
  ["match_only_text", ["type", "meta", "fields", "copy_to", "analyzer", "search_analyzer"]],
]);

/** Types of the vendor whose values are kept in the source, and not found. */
const sourceOnly = new Set([
  "aggregate_metric_double",
  "alias",
  "annotated_text",
  "binary",
  "completion",
  "date_range",
  "dense_vector",
  "double_range",
  "flattened",
  "float_range",
  "geo_point",
  "geo_shape",
  "histogram",
  "integer_range",
  "ip_range",
  "join",
  "long_range",
  "murmur3",
  "percolator",
  "point",
  "rank_feature",
  "rank_features",
  "search_as_you_type",
  "semantic_text",
  "shape",
  "sparse_vector",
  "token_count",
  "version",
]);

const rootMembers = new Set([
  "_data_stream_timestamp",
  "_field_names",
  "_meta",
  "_routing",
  "_size",
  "_source",
  "date_detection",
  "dynamic_date_formats",
  "dynamic_templates",
  "numeric_detection",
  "runtime",
  "subobjects",
]);
const objectMembers = new Set(["include_in_parent", "include_in_root", "subobjects"]);

/** @throws VendorError `mapper_parsing_exception` */
export function readMapping(json: Json): ObjectNode {
  if (!isRecord(json)) throw mistake(`Expected a map of mappings but got ${javaText(json)}`);
  // What a client of before 8 wraps them in.
  const [only, other] = Object.entries(json);
  const inner = only && !other && only[0] === "_doc" && isRecord(only[1]) ? only[1] : json;
  const { dynamic, enabled, properties, ...others } = inner;
  const unsupported = Object.entries(others).filter(([name]) => !rootMembers.has(name));
  if (unsupported.length > 0) {
    const listed = unsupported.map(([name, value]) => `[${name} : ${javaText(value)}]`).join(" ");
    throw mistake(`Root mapping definition has unsupported parameters:  ${listed}`);
  }
  return readObject({ ...inner }, "_doc", { depth: 0, members: rootMembers, dynamic, enabled, properties });
}

interface ObjectParts {
  depth: number;
  members: ReadonlySet<string>;
  dynamic: Json | undefined;
  enabled: Json | undefined;
  properties: Json | undefined;
}

function readObject(json: JsonObject, name: string, parts: ObjectParts): ObjectNode {
  const { depth, members, dynamic, enabled, properties = {} } = parts;
  if (depth > MAX_DEPTH) {
    throw new VendorError(400, {
      type: "illegal_argument_exception",
      reason: `Limit of mapping depth [${MAX_DEPTH}] has been exceeded due to object field [${name}]`,
    });
  }
  if (!isRecord(properties)) {
    if (Array.isArray(properties) && properties.length === 0)
      return readObject(json, name, { ...parts, properties: {} });
    throw mistake("Expected map for property [properties] but got something else");
  }
  const { type } = json;
  const found = new Map<string, MappingNode>();
  for (const [path, value] of Object.entries(properties))
    place(found, path.split("."), readNode(path, value, depth));
  return {
    kind: "object",
    type: typeof type === "string" ? type : undefined,
    dynamic: dynamic === undefined ? undefined : readDynamic(dynamic),
    enabled: enabled === undefined ? true : readFlag(enabled, name),
    others: Object.fromEntries(Object.entries(json).filter(([member]) => members.has(member))),
    properties: found,
  };
}

/** A dotted name stands for objects within objects. */
function place(
  properties: Map<string, MappingNode>,
  [name = "", ...rest]: string[],
  node: MappingNode,
): void {
  if (name === "") throw mistake("field name cannot be an empty string");
  const there = properties.get(name);
  if (rest.length === 0) {
    properties.set(
      name,
      there?.kind === "object" && node.kind === "object" ? mergeObjects(name, there, node) : node,
    );
    return;
  }
  const inner = new Map(there?.kind === "object" ? there.properties : []);
  place(inner, rest, node);
  properties.set(name, { ...(there?.kind === "object" ? there : emptyMapping), properties: inner });
}

function readNode(name: string, json: Json, depth: number): MappingNode {
  if (!isRecord(json)) {
    throw mistake(`Expected map for property [fields] on field [${name}] but got a class java.lang.String`);
  }
  const { type, properties, dynamic, enabled } = json;
  const isObject =
    type === "object" ||
    type === "nested" ||
    (type === undefined && (properties !== undefined || dynamic !== undefined || enabled !== undefined));
  if (!isObject) return readField(name, json, "field");
  for (const member of Object.keys(json)) {
    if (["type", "properties", "dynamic", "enabled"].includes(member) || objectMembers.has(member)) continue;
    const [value] = [json[member] ?? null];
    throw mistake(
      `Mapping definition for [${name}] has unsupported parameters:  [${member} : ${javaText(value)}]`,
    );
  }
  return readObject(json, name, { depth: depth + 1, members: objectMembers, dynamic, enabled, properties });
}

function readField(name: string, json: JsonObject, what: "field" | "sub-field"): FieldNode {
  const { type, fields = {}, ...parameters } = json;
  if (type === undefined) throw mistake(`No type specified for field [${name}]`);
  const handled = typeof type === "string" && (parametersOf.has(type) || sourceOnly.has(type));
  if (!handled) throw mistake(`No handler for type [${javaText(type)}] declared on field [${name}]`);
  const known = parametersOf.get(type);
  for (const parameter of Object.keys(parameters)) {
    if (known && !known.includes(parameter)) {
      throw mistake(`unknown parameter [${parameter}] on mapper [${name}] of type [${type}]`);
    }
  }
  if (what === "sub-field" && parameters.copy_to !== undefined) {
    throw mistake(
      `copy_to in multi fields is not allowed. Found the copy_to in field [${name}] which is within a multi field.`,
    );
  }
  checkParameters(name, type, parameters);
  if (!isRecord(fields)) {
    throw mistake(`Expected map for property [fields] on field [${name}] but got a ${javaClass(fields)}`);
  }
  return {
    kind: "field",
    type,
    parameters,
    fields: new Map(
      Object.entries(fields).map(([sub, inner]) => {
        if (!isRecord(inner))
          throw mistake(`illegal field [${sub}], only fields can be specified inside fields`);
        return [sub, readField(sub, inner, "sub-field")];
      }),
    ),
  };
}

function checkParameters(name: string, type: string, parameters: JsonObject): void {
  const { scaling_factor, format, ignore_above } = parameters;
  if (type === "scaled_float" && !(Number(scaling_factor) > 0)) {
    const reason =
      scaling_factor === undefined
        ? `Field [${name}] misses required parameter [scaling_factor]`
        : `[scaling_factor] must be a positive number, got [${javaText(scaling_factor)}]`;
    throw mistake(reason);
  }
  if (typeof format === "string") {
    try {
      readDateFormat(format);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw mistake(
        `Failed to parse mapping: Error parsing [format] on field [${name}]: ${error.cause.reason}`,
        error.cause,
      );
    }
  }
  if (ignore_above !== undefined && !(Number(ignore_above) >= 0)) {
    throw mistake(`[ignore_above] must be positive, got [${javaText(ignore_above)}]`);
  }
}

function readDynamic(json: Json): Dynamic {
  const text = String(json);
  if (text === "true" || text === "false" || text === "strict" || text === "runtime") return text;
  throw mistake(`No enum constant org.elasticsearch.index.mapper.ObjectMapper.Dynamic.${text.toUpperCase()}`);
}

function readFlag(json: Json, name: string): boolean {
  if (json === true || json === "true") return true;
  if (json === false || json === "false") return false;
  throw mistake(`Could not convert [${name}.enabled] to boolean`);
}

/** @throws VendorError what the vendor says of a mapping that is no mapping */
function mistake(reason: string, cause?: ErrorCause): VendorError {
  const caused = { type: "mapper_parsing_exception", reason };
  return new VendorError(
    400,
    {
      type: "mapper_parsing_exception",
      reason: `Failed to parse mapping: ${reason}`,
      caused_by: cause ?? caused,
    },
    caused,
  );
}

/** Parameters that a field may get another value of. */
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

/** What a field has where its mapping says nothing. */
function defaultOf(type: string, parameter: string): string {
  if (parameter === "format") return "strict_date_optional_time||epoch_millis";
  if (parameter === "analyzer") return "default";
  if (parameter === "norms") return type === "text" ? "true" : "false";
  if (parameter === "index" || parameter === "doc_values") return "true";
  return parameter === "store" ? "false" : "null";
}

/** The mapping with what another adds to it. @throws VendorError where the two disagree */
export function mergeMappings(there: ObjectNode, added: ObjectNode): ObjectNode {
  return mergeObjects("", there, added);
}

function mergeObjects(path: string, there: ObjectNode, added: ObjectNode): ObjectNode {
  if (path !== "" && there.enabled !== added.enabled) {
    throw conflict(
      `the [enabled] parameter can't be updated for the object mapping [${path}]`,
      "mapper_exception",
    );
  }
  const [wasNested, isNested] = [there.type === "nested", added.type === "nested"];
  if (path !== "" && wasNested !== isNested) {
    throw conflict(
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
  if (there.kind === "object" && added.kind === "object") return mergeObjects(path, there, added);
  if (there.kind === "object" || added.kind === "object") {
    throw conflict(`can't merge a non object mapping [${path}] with an object mapping`);
  }
  return mergeFields(path, there, added);
}

function mergeFields(path: string, there: FieldNode, added: FieldNode): FieldNode {
  if (there.type !== added.type) {
    throw conflict(`mapper [${path}] cannot be changed from type [${there.type}] to [${added.type}]`);
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
    throw conflict(`Mapper for [${path}] conflicts with existing mapper:${lines.join("")}`);
  }
  const fields = new Map(there.fields);
  for (const [name, node] of added.fields) {
    const known = fields.get(name);
    fields.set(name, known ? mergeFields(`${path}.${name}`, known, node) : node);
  }
  return { ...there, parameters: added.parameters, fields };
}

function conflict(reason: string, type = "illegal_argument_exception"): VendorError {
  return new VendorError(400, { type, reason });
}

/** The mapping as `GET` shows it, which `readMapping` reads again. */
export function showMapping(node: ObjectNode): JsonObject {
  const properties = sorted(node.properties);
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
  const inner = sorted(fields).map(([name, node]): [string, JsonObject] => [name, showField(node)]);
  return { type, ...parameters, ...(inner.length === 0 ? {} : { fields: Object.fromEntries(inner) }) };
}

function sorted<Value>(members: ReadonlyMap<string, Value>): [string, Value][] {
  return [...members].sort(([a], [b]) => (a < b ? -1 : 1));
}

function javaClass(json: Json): string {
  if (typeof json === "string") return "class java.lang.String";
  return Array.isArray(json) ? "class java.util.ArrayList" : "class java.lang.Integer";
}

function isRecord(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
