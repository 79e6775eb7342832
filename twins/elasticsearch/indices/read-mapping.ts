/**
 * Reads mappings, with the vendor's errors.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/mapping.html
 */
import { readDateFormat } from "../dates/java-format.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { javaText } from "../json/token.ts";
import { type ErrorCause, VendorError } from "../vendor/error.ts";
import {
  type Dynamic,
  emptyMapping,
  type FieldNode,
  type MappingNode,
  type ObjectNode,
} from "./mapping-tree.ts";
import { mergeMappings } from "./merge-mappings.ts";

/** The vendor's `index.mapping.depth.limit`. */
const MAX_DEPTH = 20;

const everyField = ["type", "fields", "copy_to", "meta", "store", "boost", "similarity"];
const scripted = ["script", "on_script_error", "time_series_dimension"];
const columned = [...everyField, ...scripted, "doc_values", "index", "null_value", "ignore_malformed"];
const numeric = [...columned, "coerce", "time_series_metric"];
const textual = [...everyField, "index", "index_options", "norms", "eager_global_ordinals"];

/** Parameters by type, for the types that are indexed here. */
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

/** Types of the vendor whose values this twin holds in the source, unsearchable. */
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
  if (!isRecord(json)) throw invalidMapping(`Expected a map of mappings but got ${javaText(json)}`);
  // Clients before version 8 wrap the mapping in a type name.
  const [only, other] = Object.entries(json);
  const inner = only && !other && only[0] === "_doc" && isRecord(only[1]) ? only[1] : json;
  const { dynamic, enabled, properties, ...others } = inner;
  const unsupported = Object.entries(others).filter(([name]) => !rootMembers.has(name));
  if (unsupported.length > 0) {
    const listed = unsupported.map(([name, value]) => `[${name} : ${javaText(value)}]`).join(" ");
    throw invalidMapping(`Root mapping definition has unsupported parameters:  ${listed}`);
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
    throw invalidMapping("Expected map for property [properties] but got something else");
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

/** Places a field under its dotted name as objects within objects. */
function place(
  properties: Map<string, MappingNode>,
  [name = "", ...rest]: string[],
  node: MappingNode,
): void {
  if (name === "") throw invalidMapping("field name cannot be an empty string");
  const there = properties.get(name);
  if (rest.length === 0) {
    properties.set(
      name,
      there?.kind === "object" && node.kind === "object" ? mergeMappings(there, node, name) : node,
    );
    return;
  }
  const inner = new Map(there?.kind === "object" ? there.properties : []);
  place(inner, rest, node);
  properties.set(name, { ...(there?.kind === "object" ? there : emptyMapping), properties: inner });
}

function readNode(name: string, json: Json, depth: number): MappingNode {
  if (!isRecord(json)) {
    throw invalidMapping(
      `Expected map for property [fields] on field [${name}] but got a class java.lang.String`,
    );
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
    throw invalidMapping(
      `Mapping definition for [${name}] has unsupported parameters:  [${member} : ${javaText(value)}]`,
    );
  }
  return readObject(json, name, { depth: depth + 1, members: objectMembers, dynamic, enabled, properties });
}

function readField(name: string, json: JsonObject, what: "field" | "sub-field"): FieldNode {
  const { type, fields = {}, ...parameters } = json;
  if (type === undefined) throw invalidMapping(`No type specified for field [${name}]`);
  const handled = typeof type === "string" && (parametersOf.has(type) || sourceOnly.has(type));
  if (!handled) throw invalidMapping(`No handler for type [${javaText(type)}] declared on field [${name}]`);
  const known = parametersOf.get(type);
  for (const parameter of Object.keys(parameters)) {
    if (known && !known.includes(parameter)) {
      throw invalidMapping(`unknown parameter [${parameter}] on mapper [${name}] of type [${type}]`);
    }
  }
  if (what === "sub-field" && parameters.copy_to !== undefined) {
    throw invalidMapping(
      `copy_to in multi fields is not allowed. Found the copy_to in field [${name}] which is within a multi field.`,
    );
  }
  checkParameters(name, type, parameters);
  if (!isRecord(fields)) {
    throw invalidMapping(
      `Expected map for property [fields] on field [${name}] but got a ${javaClass(fields)}`,
    );
  }
  const { copy_to } = parameters;
  return {
    kind: "field",
    type,
    parameters: typeof copy_to === "string" ? { ...parameters, copy_to: [copy_to] } : parameters,
    fields: new Map(
      Object.entries(fields).map(([sub, inner]) => {
        if (!isRecord(inner))
          throw invalidMapping(`illegal field [${sub}], only fields can be specified inside fields`);
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
    throw invalidMapping(reason);
  }
  if (typeof format === "string") {
    try {
      readDateFormat(format);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw invalidMapping(
        `Failed to parse mapping: Error parsing [format] on field [${name}]: ${error.cause.reason}`,
        error.cause,
      );
    }
  }
  if (ignore_above !== undefined && !(Number(ignore_above) >= 0)) {
    throw invalidMapping(`[ignore_above] must be positive, got [${javaText(ignore_above)}]`);
  }
}

function readDynamic(json: Json): Dynamic {
  const text = String(json);
  if (text === "true" || text === "false" || text === "strict" || text === "runtime") return text;
  throw invalidMapping(
    `No enum constant org.elasticsearch.index.mapper.ObjectMapper.Dynamic.${text.toUpperCase()}`,
  );
}

function readFlag(json: Json, name: string): boolean {
  if (json === true || json === "true") return true;
  if (json === false || json === "false") return false;
  throw invalidMapping(`Could not convert [${name}.enabled] to boolean`);
}

/** `mapper_parsing_exception`, as the vendor words an invalid mapping. */
function invalidMapping(reason: string, cause?: ErrorCause): VendorError {
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

function javaClass(json: Json): string {
  if (typeof json === "string") return "class java.lang.String";
  return Array.isArray(json) ? "class java.util.ArrayList" : "class java.lang.Integer";
}

function isRecord(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
