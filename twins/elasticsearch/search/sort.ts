/**
 * Sort options.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/sort-search-results.html
 */

import type { ContentParser } from "../json/content-parser.ts";
import { ObjectParser, objectField, scalarField, textField } from "../json/object-parser.ts";
import { illegalArgument } from "../vendor/error.ts";

export type Order = "asc" | "desc";
export type SortMode = "min" | "max" | "sum" | "avg" | "median";

export interface FieldSort {
  kind: "field";
  field: string;
  order: Order;
  missing: "_last" | "_first" | string | number | bigint | boolean;
  mode: SortMode | undefined;
  /** Date format of the shown value. */
  format: string | undefined;
  /** A nonexistent field with this option sorts as one without values instead of failing. */
  unmappedType: string | undefined;
  numericType: "long" | "double" | "date" | undefined;
}

export type Sort =
  | FieldSort
  | { kind: "score"; order: Order }
  /** Order of writing. */
  | { kind: "document"; order: Order; isShown: boolean };

/** Whether hits show sort values: the default order, best score first, shows none. */
export function isSorted([first, ...others]: readonly Sort[]): boolean {
  if (first === undefined) return false;
  return others.length > 0 || first.kind !== "score" || first.order !== "desc";
}

/** Bounds the columns of the page statement. */
const MAX_SORTS = 64;

/** Reads `sort`, a list or an object, at the current token. @throws VendorError */
export function readSort(content: ContentParser): Sort[] {
  const sorts: Sort[] = [];
  if (content.token === "START_OBJECT") readObject(content, sorts);
  else {
    for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
      if (token === "START_OBJECT") readObject(content, sorts);
      else if (token === "VALUE_STRING") sorts.push(sortBy(content.text()));
      else {
        throw illegalArgument(
          "malformed sort format, within the sort array, an object, or an actual string are allowed",
        );
      }
    }
  }
  if (sorts.length > MAX_SORTS) throw illegalArgument(`a search sorts by at most ${MAX_SORTS} fields`);
  return sorts;
}

function readObject(content: ContentParser, sorts: Sort[]): void {
  for (let token = content.next(); token !== "END_OBJECT"; token = content.next()) {
    if (token !== "FIELD_NAME") continue;
    const { name } = content;
    sorts.push(
      content.next() === "VALUE_STRING" ? sortBy(name, orderOf(content.text())) : readOptions(content),
    );
  }
}

/** Reads `?sort=field:desc,other`. Like the vendor it ignores items with another order. */
export function readSortParameter(list: readonly string[]): Sort[] {
  return list.flatMap((item) => {
    const colon = item.lastIndexOf(":");
    if (colon < 0) return [sortBy(item)];
    const order = item.slice(colon + 1);
    return order === "asc" || order === "desc" ? [sortBy(item.slice(0, colon), order)] : [];
  });
}

/** The sort that a name stands for: the score, the order of writing, or a field. */
export function sortBy(name: string, order?: Order): Sort {
  if (name === "_score") return { kind: "score", order: order ?? "desc" };
  if (name === "_doc" || name === "_shard_doc") {
    return { kind: "document", order: order ?? "asc", isShown: true };
  }
  return fieldSort(name, order ?? "asc");
}

function fieldSort(field: string, order: Order): FieldSort {
  return {
    kind: "field",
    field,
    order,
    missing: "_last",
    mode: undefined,
    format: undefined,
    unmappedType: undefined,
    numericType: undefined,
  };
}

const unserved = new Set(["_script", "_geo_distance", "_geoDistance"]);

/** Reads the options of the current field. */
function readOptions(content: ContentParser): Sort {
  const { name } = content;
  if (unserved.has(name)) throw illegalArgument(`This twin sorts by values: [${name}] is not supported`);
  if (name === "_score") return scoreParser.parse(content, { kind: "score", order: "desc" });
  const options = fieldParser.parse(content, fieldSort(name, "asc"));
  const document = sortBy(name, options.order);
  return document.kind === "document" ? document : options;
}

const scoreParser = new ObjectParser<{ kind: "score"; order: Order }>("_score", {
  order: textField((text, sort) => {
    sort.order = orderOf(text);
  }),
});

const fieldParser = new ObjectParser<FieldSort>("field_sort", {
  missing: scalarField((content, sort) => {
    sort.missing = content.scalar() ?? "_last";
  }),
  unmapped_type: textField((type, sort) => {
    sort.unmappedType = type;
  }),
  order: textField((text, sort) => {
    sort.order = orderOf(text);
  }),
  mode: textField((text, sort) => {
    sort.mode = modeOf(text);
  }),
  nested: objectField((content) => {
    const path = content.next() === "END_OBJECT" ? undefined : content.name;
    if (path === undefined) return;
    throw illegalArgument(
      "[nested] failed to find nested object under path: this twin has no nested objects",
    );
  }),
  numeric_type: textField((type, sort) => {
    if (type === "date_nanos") sort.numericType = "date";
    else if (type === "long" || type === "double" || type === "date") sort.numericType = type;
    else {
      throw illegalArgument(
        `invalid value for [numeric_type], must be [long, double, date, date_nanos], got ${type}`,
      );
    }
  }),
  format: textField((format, sort) => {
    sort.format = format;
  }),
});

function orderOf(text: string): Order {
  const order = text.toLowerCase();
  if (order === "asc" || order === "desc") return order;
  throw illegalArgument(`No enum constant org.elasticsearch.search.sort.SortOrder.${text.toUpperCase()}`);
}

const modes = new Set(["min", "max", "sum", "avg", "median"]);
const isMode = (text: string): text is SortMode => modes.has(text);

function modeOf(text: string): SortMode {
  const mode = text.toLowerCase();
  if (isMode(mode)) return mode;
  throw illegalArgument(`Unknown SortMode [${text}]`);
}
