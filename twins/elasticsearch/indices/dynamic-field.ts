/**
 * Dynamic mapping: the field for a value whose name is not in the mapping.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/dynamic-field-mapping.html
 */
import { utc } from "@offhook/log-store/dates/time-zone";
import type { Leaf } from "@offhook/log-store/store/json-leaves";
import { defaultDateFormat, readDateFormat } from "../dates/java-format.ts";
import { isFalse, isTrue } from "../json/flag.ts";
import type { JsonObject } from "../json/read.ts";
import { type MatchedType, templateField } from "./dynamic-template.ts";
import type { FieldNode } from "./mapping-tree.ts";

/** Formats of the texts that become dates. */
const defaultFormats = [defaultDateFormat, "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"];
/** The numbers that Java's `Double.parseDouble` accepts. */
const decimal = /^\s*[+-]?(?:NaN|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?)\s*$/;
const integer = /^[+-]?\d+$/;

function field(
  type: string,
  parameters: JsonObject = {},
  fields: FieldNode["fields"] = new Map(),
): FieldNode {
  return { kind: "field", type, parameters, fields };
}

const long = field("long");
const float = field("float");
const boolean = field("boolean");
const date = field("date");
const textWithKeyword = field("text", {}, new Map([["keyword", field("keyword", { ignore_above: 256 })]]));

/** @param name the full path @param root members of the mapping, such as `date_detection` @throws VendorError */
export function dynamicField(name: string, leaf: Leaf, root: JsonObject): FieldNode {
  const { matched, made } = detectType(leaf, root);
  // A template without a type makes a text without a keyword beside it.
  return templateField(name, matched, made.type, root) ?? made;
}

interface Detected {
  matched: MatchedType;
  made: FieldNode;
}

function detectType({ kind, text }: Leaf, root: JsonObject): Detected {
  switch (kind) {
    case "integer":
      return { matched: "long", made: long };
    case "decimal":
      return { matched: "double", made: float };
    case "boolean":
      return { matched: "boolean", made: boolean };
    default:
      return detectTypeInText(text, root);
  }
}

const anyText: Detected = { matched: "string", made: textWithKeyword };

function detectTypeInText(text: string, root: JsonObject): Detected {
  const { numeric_detection, date_detection, dynamic_date_formats = defaultFormats } = root;
  if (decimal.test(text)) {
    if (!isTrue(numeric_detection)) return anyText;
    const isWhole = integer.test(text) && fitsLong(BigInt(text));
    return isWhole ? { matched: "long", made: long } : { matched: "double", made: float };
  }
  if (isFalse(date_detection)) return anyText;
  const formats = Array.isArray(dynamic_date_formats) ? dynamic_date_formats.map(String) : defaultFormats;
  const format = formats.find((one) => readDateFormat(one).parse(text, utc, "first") !== undefined);
  if (format === undefined) return anyText;
  return { matched: "date", made: format === defaultDateFormat ? date : field("date", { format }) };
}

function fitsLong(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
