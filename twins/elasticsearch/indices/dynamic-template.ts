/**
 * Dynamic templates: mappings for names that are not in the mapping.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/dynamic-templates.html
 */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { VendorError } from "../vendor/error.ts";
import type { FieldNode } from "./mapping-tree.ts";
import { readMapping } from "./read-mapping.ts";

/** Value types by which a template matches. */
export type MatchedType = "string" | "long" | "double" | "boolean" | "date";

/** @throws VendorError for malformed templates, and for those without an effect here */
export function checkTemplates(templates: Json | undefined): void {
  if (templates === undefined) return;
  if (!Array.isArray(templates)) {
    throw invalidTemplate("Dynamic template syntax error. An array of named objects is expected.");
  }
  for (const entry of templates) {
    const [[name, rule] = ["", null], ...others] = isObject(entry) ? Object.entries(entry) : [];
    if (others.length > 0 || !isObject(rule)) {
      throw invalidTemplate("A dynamic template must be defined with a name");
    }
    const unserved = unservedMember(rule);
    if (unserved !== undefined) {
      throw invalidTemplate(
        `${unserved} of dynamic template [${name}] is not supported here: this stand-in has templates of values, by patterns with stars`,
      );
    }
  }
}

function unservedMember(rule: JsonObject): string | undefined {
  if (rule.match_pattern === "regex") return "[match_pattern] of [regex]";
  if (rule.runtime !== undefined) return "[runtime]";
  const types = list(rule.match_mapping_type);
  const unserved = ["object", "binary"].find((type) => types.includes(type));
  return unserved && `[match_mapping_type] of [${unserved}]`;
}

function invalidTemplate(reason: string): VendorError {
  const cause = { type: "mapper_parsing_exception", reason };
  return new VendorError(400, { ...cause, reason: `Failed to parse mapping: ${reason}`, caused_by: cause });
}

/**
 * The field that the first matching template makes; `undefined` when none matches.
 * @param name the full path @throws VendorError for an invalid mapping
 */
export function templateField(
  name: string,
  type: MatchedType,
  dynamicType: string,
  { dynamic_templates }: JsonObject,
): FieldNode | undefined {
  for (const entry of list(dynamic_templates)) {
    const [rule] = isObject(entry) ? Object.values(entry) : [];
    if (isObject(rule) && matchesRule(name, type, rule)) return fieldOf(name, dynamicType, rule);
  }
  return undefined;
}

function matchesRule(name: string, type: MatchedType, rule: JsonObject): boolean {
  const last = name.slice(name.lastIndexOf(".") + 1);
  const types = list(rule.match_mapping_type).map(String);
  const matches = (text: string, patterns: Json | undefined) =>
    list(patterns).some((pattern) => matchesPattern(text, String(pattern)));
  return (
    (types.length === 0 || types.includes("*") || types.includes(type)) &&
    (rule.match === undefined || matches(last, rule.match)) &&
    (rule.path_match === undefined || matches(name, rule.path_match)) &&
    !matches(last, rule.unmatch) &&
    !matches(name, rule.path_unmatch)
  );
}

function fieldOf(name: string, dynamicType: string, { mapping }: JsonObject): FieldNode | undefined {
  const last = name.slice(name.lastIndexOf(".") + 1);
  const given = isObject(mapping) ? mapping : {};
  const filled = fillIn({ type: dynamicType, ...given }, { "{name}": last, "{dynamic_type}": dynamicType });
  const node = readMapping({ properties: { field: filled } }).properties.get("field");
  return node?.kind === "field" ? node : undefined;
}

function fillIn(json: Json, values: Readonly<Record<string, string>>): Json {
  if (typeof json === "string") {
    return Object.entries(values).reduce((text, [place, value]) => text.replaceAll(place, value), json);
  }
  if (Array.isArray(json)) return json.map((item) => fillIn(item, values));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [String(fillIn(name, values)), fillIn(value, values)]),
  );
}

function list(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : json === undefined ? [] : [json];
}
