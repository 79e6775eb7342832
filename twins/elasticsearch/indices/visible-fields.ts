/** The fields that a search of certain indices sees, united where the indices have different mappings. */
import { type Field, FieldCatalog } from "@offhook/log-store/fields";
import { list, type Sql, sql } from "@offhook/log-store/sql";
import { getOrAdd } from "@offhook/platform/base/get-or-add";

/** Indices of a search with identical fields. */
export interface IndexGroup {
  readonly fields: FieldCatalog;
  /** Includes fields of nested objects, which only `nested` searches. */
  readonly allFields: FieldCatalog;
  readonly names: readonly string[];
  /** Condition for their documents, over `documents AS d`. */
  readonly predicate: Sql;
}

export interface VisibleFields {
  fields: FieldCatalog;
  /** Includes fields of nested objects, which only `nested` searches. */
  allFields: FieldCatalog;
  /** The indices grouped by their fields, where these differ: a query is compiled once per group. */
  groups?: readonly IndexGroup[];
}

const noFields = new FieldCatalog([], undefined);

/** Remembers views of the current catalog; a new catalog starts over. */
export class FieldViews {
  #catalog: FieldCatalog | undefined;
  /** By the names of the indices, as JSON. */
  readonly #united = new Map<string, VisibleFields>();
  /** Fields of documents by all fields of their index. */
  readonly #documentFields = new Map<FieldCatalog, FieldCatalog>();

  /** The fields of certain indices; none for no index. @param catalog of all indices */
  of(catalog: FieldCatalog, { names }: { readonly names: readonly string[] }): VisibleFields {
    const [first] = names;
    if (first === undefined) return { fields: noFields, allFields: noFields };
    if (catalog.indices.size === 0) return { fields: catalog, allFields: catalog };
    if (catalog !== this.#catalog) {
      this.#catalog = catalog;
      this.#united.clear();
      this.#documentFields.clear();
    }
    if (names.length === 1) {
      const allFields = catalog.of(first);
      return { fields: this.#fieldsOfDocuments(allFields), allFields };
    }
    return getOrAdd(this.#united, JSON.stringify(names), () => {
      const groups = this.#groupByFields(catalog, names);
      const [only, other] = groups;
      if (only && !other) return { fields: only.fields, allFields: only.allFields };
      const fields = unite(groups.map((group) => group.fields));
      return { fields, allFields: unite(groups.map((group) => group.allFields)), groups };
    });
  }

  /** Groups indices by their fields; those of the dataset share theirs. */
  #groupByFields(catalog: FieldCatalog, names: readonly string[]): IndexGroup[] {
    const groups = new Map<FieldCatalog, string[]>();
    for (const name of names) getOrAdd(groups, catalog.of(name), () => []).push(name);
    return [...groups].map(([allFields, found]) => ({
      fields: this.#fieldsOfDocuments(allFields),
      allFields,
      names: found,
      predicate: sql`d._index IN ${list(found)}`,
    }));
  }

  /** The fields of documents themselves, without those of nested objects. */
  #fieldsOfDocuments(all: FieldCatalog): FieldCatalog {
    return getOrAdd(this.#documentFields, all, () => {
      const own = all.all().filter(({ mapping }) => mapping?.nestedIn === undefined);
      return own.length === all.size ? all : new FieldCatalog(own, undefined, all.textIndex);
    });
  }
}

const numbers: ReadonlySet<string> = new Set(["long", "unsigned_long", "double"]);

/**
 * The fields of all groups by name. Where groups map a name to incompatible types, the first sortable field stands for
 * all: the vendor answers without the others, whose shards fail.
 */
function unite(catalogs: readonly FieldCatalog[]): FieldCatalog {
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
