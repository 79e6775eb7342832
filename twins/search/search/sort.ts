/**
 * What hits are sorted by.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/sort-search-results.html
 */
import { illegal, meant } from "../api/parameters.ts";
import type { Json } from "../json/read.ts";
import { VendorError } from "../vendor-error.ts";

export type Order = "asc" | "desc";
export type SortMode = "min" | "max" | "sum" | "avg" | "median";

export interface FieldSort {
  kind: "field";
  field: string;
  order: Order;
  missing: "_last" | "_first" | string | number | bigint | boolean;
  mode: SortMode | undefined;
  /** Of dates. */
  format: string | undefined;
  /** A field that does not exist sorts as one without values, instead of being a mistake. */
  unmappedType: string | undefined;
  numericType: "long" | "double" | "date" | undefined;
}

export type Sort =
  | FieldSort
  | { kind: "score"; order: Order }
  /** In the order of writing. */
  | { kind: "document"; order: Order; answered: boolean };

/** Most fields to sort by. */
const MAX_SORTS = 64;

/** `sort` of a body. @throws VendorError */
export function readSort(json: Json): Sort[] {
  const items = Array.isArray(json) ? json : [json];
  if (items.length > MAX_SORTS) throw illegal(`a search sorts by at most ${MAX_SORTS} fields`);
  return items.flatMap((item) => {
    if (typeof item === "string") return [named(item, undefined)];
    if (typeof item === "object" && item !== null && !Array.isArray(item)) {
      return Object.entries(item).map(([field, options]) => withOptions(field, options));
    }
    throw illegal("malformed sort format, within the sort array, an object, or an actual string are allowed");
  });
}

/** `?sort=field:desc,other`. */
export function readSortParameter(list: readonly string[]): Sort[] {
  return list.map((item) => {
    const colon = item.lastIndexOf(":");
    if (colon < 0) return named(item, undefined);
    const order = item.slice(colon + 1);
    if (order !== "asc" && order !== "desc") throw illegal(`Unknown sort order [${order}]`);
    return named(item.slice(0, colon), order);
  });
}

function named(field: string, order: Order | undefined): Sort {
  if (field === "_score") return { kind: "score", order: order ?? "desc" };
  if (field === "_doc") return { kind: "document", order: order ?? "asc", answered: true };
  if (field === "_shard_doc") return { kind: "document", order: order ?? "asc", answered: true };
  return {
    kind: "field",
    field,
    order: order ?? "asc",
    missing: "_last",
    mode: undefined,
    format: undefined,
    unmappedType: undefined,
    numericType: undefined,
  };
}

function withOptions(field: string, options: Json): Sort {
  if (field === "_script" || field === "_geo_distance") {
    throw illegal(`This twin does not sort by [${field}]`);
  }
  if (typeof options === "string") return named(field, readOrder(options));
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw illegal(`malformed sort format, [${field}] takes an order or an object`);
  }
  const { order, ...rest } = options;
  const sort = named(field, order === undefined ? undefined : readOrder(order));
  for (const [name, value] of Object.entries(rest)) {
    if (sort.kind !== "field") throw unknownOption(name, sort.kind === "score" ? ["order"] : ["order"]);
    readOption(sort, name, value);
  }
  return sort;
}

const optionNames = ["missing", "mode", "format", "unmapped_type", "numeric_type", "order", "nested"];

function readOption(sort: FieldSort, name: string, value: Json): void {
  switch (name) {
    case "missing":
      if (typeof value === "object")
        throw illegal("[field_sort] missing doesn't support values of this type");
      sort.missing = value;
      return;
    case "mode":
      sort.mode = readMode(value);
      return;
    case "format":
      sort.format = String(value);
      return;
    case "unmapped_type":
      sort.unmappedType = String(value);
      return;
    case "numeric_type":
      if (value === "date_nanos") sort.numericType = "date";
      else if (value === "long" || value === "double" || value === "date") sort.numericType = value;
      else
        throw illegal(
          `invalid value for [numeric_type], must be [long, double, date, date_nanos], got ${value}`,
        );
      return;
    case "ignore_unmapped":
      sort.unmappedType = "long";
      return;
    case "nested":
    case "nested_path":
    case "nested_filter":
      throw illegal(`[nested] failed to find nested object under path: this twin has no nested objects`);
    default:
      throw unknownOption(name, optionNames);
  }
}

function unknownOption(name: string, known: readonly string[]): VendorError {
  const near = meant(name, known).replace(" -> did", " did");
  return new VendorError(400, {
    type: "x_content_parse_exception",
    reason: `[1:1] [field_sort] unknown field [${name}]${near}`,
  });
}

function readOrder(value: Json): Order {
  const text = String(value).toLowerCase();
  if (text === "asc" || text === "desc") return text;
  throw illegal(`Unknown SortOrder [${String(value)}]`);
}

const modes = new Set(["min", "max", "sum", "avg", "median"]);
const isMode = (text: string): text is SortMode => modes.has(text);

function readMode(value: Json): SortMode {
  const text = String(value).toLowerCase();
  if (isMode(text)) return text;
  throw illegal(`Unknown SortMode [${String(value)}]`);
}
