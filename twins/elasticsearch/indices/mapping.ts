/** Mappings as answers show them: declared fields as declared, all others by dynamic mapping. */

import type { Field, FieldCatalog } from "@offhook/log-store/fields";
import { keywordsOf, mappedType } from "./field-types.ts";
import { nodeOf } from "./mapped-field.ts";
import { ownMapping } from "./own-mapping.ts";
import { showField, showMapping } from "./show-mapping.ts";

const keyword = { keyword: { type: "keyword", ignore_above: 256 } };

/** The mapping that dynamic mapping gives a field. */
function dynamicMapping(field: Field): object {
  return field.type === "text" ? { type: "text", fields: keyword } : { type: mappedType(field) };
}

export function fieldMapping(field: Field): object {
  const node = nodeOf(field);
  return node ? showField(node) : dynamicMapping(field);
}

interface Properties {
  properties?: Map<string, Properties | object>;
}

/**
 * `{properties: {…}}` with dotted names as nested objects; empty without fields.
 * @param catalog of all indices
 */
export function mappingOf(catalog: FieldCatalog, index: string): object {
  const fields = catalog.of(index).all();
  const own = ownMapping(catalog, index);
  if (own) return showMapping(own.whole(fields));
  const root: Properties = {};
  for (const field of fields) place(root, field.name.split("."), dynamicMapping(field));
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

/** A field in an answer of `_field_caps`. */
export interface FieldCapability {
  name: string;
  type: string;
  searchable: boolean;
  aggregatable: boolean;
  metadata: boolean;
}

/** All names that a query may use: fields, their keywords, and the objects around them. */
export function capabilitiesOf(fields: FieldCatalog): FieldCapability[] {
  const found = new Map<string, FieldCapability>();
  const add = (name: string, type: string, what: Partial<Omit<FieldCapability, "name" | "type">>) =>
    found.set(name, { name, type, searchable: true, aggregatable: false, metadata: false, ...what });
  for (const name of ["_id", "_index", "_source", "_seq_no", "_version"]) {
    const searchable = name === "_id" || name === "_index";
    add(name, name, { searchable, aggregatable: name === "_index", metadata: true });
  }
  for (const field of fields.all()) {
    const parts = field.name.split(".");
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = parts.slice(0, depth).join(".");
      if (!found.has(parent)) add(parent, "object", { searchable: false });
    }
    add(field.name, mappedType(field), { aggregatable: field.type !== "text" });
    for (const sub of keywordsOf(field).keys())
      add(`${field.name}.${sub}`, "keyword", { aggregatable: true });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
