/** Mappings as dynamic mapping would have made them of the fields that there are. */
import type { Field, FieldCatalog, FieldType } from "../../datasets/fields.ts";

/** How a mapping names a field's type. Numbers with a fraction are mapped to `float`. */
const mappedTypes: Record<FieldType, string> = {
  text: "text",
  long: "long",
  unsigned_long: "unsigned_long",
  double: "float",
  boolean: "boolean",
  date: "date",
};

const keyword = { keyword: { type: "keyword", ignore_above: 256 } };

export function fieldMapping({ type }: Field): object {
  return type === "text" ? { type: "text", fields: keyword } : { type: mappedTypes[type] };
}

interface Properties {
  properties?: Map<string, Properties | object>;
}

/** `{properties: {…}}`, dotted names as objects within objects; empty without fields. */
export function mappingOf(fields: FieldCatalog): Properties {
  const root: Properties = {};
  for (const field of fields.all()) place(root, field.name.split("."), fieldMapping(field));
  return root;
}

function place(parent: Properties, [name = "", ...rest]: string[], mapping: object): void {
  parent.properties ??= new Map();
  const known = parent.properties.get(name);
  if (rest.length === 0) {
    parent.properties.set(name, known ? { ...mapping, ...known } : mapping);
    return;
  }
  const inner: Properties = known ?? {};
  parent.properties.set(name, inner);
  place(inner, rest, mapping);
}

/** A field as `_field_caps` tells it. */
export interface FieldCapability {
  name: string;
  type: string;
  searchable: boolean;
  aggregatable: boolean;
  metadata: boolean;
}

/** Every name that a query may use: fields, their keywords, and the objects they stand in. */
export function capabilitiesOf(fields: FieldCatalog): FieldCapability[] {
  const found = new Map<string, FieldCapability>();
  const add = (name: string, type: string, aggregatable: boolean, searchable = true, metadata = false) =>
    found.set(name, { name, type, searchable, aggregatable, metadata });
  for (const name of ["_id", "_index", "_source", "_seq_no", "_version"]) {
    add(name, name, name === "_index", name === "_id" || name === "_index", true);
  }
  for (const field of fields.all()) {
    const parts = field.name.split(".");
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = parts.slice(0, depth).join(".");
      if (!found.has(parent)) add(parent, "object", false, false);
    }
    add(field.name, mappedTypes[field.type], field.type !== "text");
    if (field.type === "text") add(`${field.name}.keyword`, "keyword", true);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
