/** How the mapping of a field names its type and its sub-fields. */
import type { Field, FieldType } from "@offhook/log-store/fields";

/** How dynamic mapping names a field's type. Numbers with a fraction are mapped to `float`. */
const mappedTypes: Record<FieldType, string> = {
  text: "text",
  keyword: "keyword",
  long: "long",
  unsigned_long: "unsigned_long",
  double: "float",
  boolean: "boolean",
  date: "date",
  ip: "ip",
};

/** A field's type as its mapping names it. */
export function mappedType({ type, mapping }: Field): string {
  return mapping?.type ?? mappedTypes[type];
}

/** What the vendor's dynamic mapping keeps as a keyword beside a text, and how long a text it keeps. */
const dynamicKeywords: ReadonlyMap<string, number> = new Map([["keyword", 256]]);
const noKeywords: ReadonlyMap<string, number> = new Map();

/** The sub-fields that hold the whole values of a text, each with the longest value that it holds. */
export function keywordsOf({ type, mapping }: Field): ReadonlyMap<string, number> {
  if (type !== "text") return noKeywords;
  return mapping ? (mapping.keywords ?? noKeywords) : dynamicKeywords;
}

/** The name of a field, and those of its sub-fields that have no column of their own. */
export function namesOf(field: Field): string[] {
  return [field.name, ...[...keywordsOf(field).keys()].map((sub) => `${field.name}.${sub}`)];
}
