/** Unites the fields of indices with different mappings for one search. */
import { type Field, FieldCatalog } from "@offhook/log-store/fields";
import { list, type Sql, sql } from "@offhook/log-store/sql";

/** Indices of a search with identical fields. */
export interface IndexGroup {
  readonly fields: FieldCatalog;
  /** Includes fields of nested objects, which only `nested` searches. */
  readonly allFields: FieldCatalog;
  readonly names: readonly string[];
  /** Condition for their documents, over `documents AS d`. */
  readonly predicate: Sql;
}

/** Groups indices by their fields; those of the dataset share theirs. */
export function groupsOf(fields: FieldCatalog, names: readonly string[]): IndexGroup[] {
  const groups = new Map<FieldCatalog, string[]>();
  for (const name of names) {
    const own = fields.of(name);
    const known = groups.get(own);
    if (known) known.push(name);
    else groups.set(own, [name]);
  }
  return [...groups].map(([own, found]) => ({
    fields: documentFields(own),
    allFields: own,
    names: found,
    predicate: sql`d._index IN ${list(found)}`,
  }));
}

const ofDocuments = new WeakMap<FieldCatalog, FieldCatalog>();

/** The fields of documents themselves, without those of nested objects. */
export function documentFields(all: FieldCatalog): FieldCatalog {
  const known = ofDocuments.get(all);
  if (known) return known;
  const own = all.all().filter(({ mapping }) => mapping?.nestedIn === undefined);
  const fields = own.length === all.size ? all : new FieldCatalog(own, undefined, all.textIndex);
  ofDocuments.set(all, fields);
  return fields;
}

const numbers = new Set(["long", "unsigned_long", "double"]);

/**
 * The fields of all groups by name. Where groups map a name to incompatible types, the first sortable field stands for
 * all: the vendor answers without the others, whose shards fail.
 */
export function unite(catalogs: readonly FieldCatalog[]): FieldCatalog {
  const named = new Map<string, Field[]>();
  for (const catalog of catalogs) {
    for (const field of catalog.all()) {
      const known = named.get(field.name);
      if (known) known.push(field);
      else named.set(field.name, [field]);
    }
  }
  return new FieldCatalog([...named.values()].map(uniteFields), undefined);
}

function uniteFields(fields: readonly Field[]): Field {
  const first = fields.find(({ type }) => type !== "text") ?? fields[0];
  if (!first) throw new Error("there is no field to unite");
  const alike = fields.filter(
    ({ type }) => type === first.type || (numbers.has(type) && numbers.has(first.type)),
  );
  if (alike.length === 1) return first;
  return {
    ...first,
    type: alike.every(({ type }) => type === first.type) ? first.type : "double",
    multi: alike.some(({ multi }) => multi),
    parts: alike,
  };
}
