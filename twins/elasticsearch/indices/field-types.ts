/** Types and sub-fields of a field, as its mapping names them. */
import type { Field, FieldType } from "@offhook/log-store/fields";

/** Types by dynamic mapping. Fractions become `float`. */
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

/** The type of a field in its mapping. */
export function mappedType({ type, mapping }: Field): string {
  return mapping?.type ?? mappedTypes[type];
}

/** Dynamic mapping adds this keyword to a text, with the longest value it indexes. */
const dynamicKeywords: ReadonlyMap<string, number> = new Map([["keyword", 256]]);
const noKeywords: ReadonlyMap<string, number> = new Map();

/** Keyword sub-fields of a text, each with the longest value it indexes. */
export function keywordsOf({ type, mapping }: Field): ReadonlyMap<string, number> {
  if (type !== "text") return noKeywords;
  return mapping ? (mapping.keywords ?? noKeywords) : dynamicKeywords;
}

/** A field's name, and those of its sub-fields without a column of their own. */
export function namesOf(field: Field): string[] {
  return [field.name, ...[...keywordsOf(field).keys()].map((sub) => `${field.name}.${sub}`)];
}
