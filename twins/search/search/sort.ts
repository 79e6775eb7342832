/**
 * What hits are sorted by.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/sort-search-results.html
 */
import { illegal, meant } from "../api/parameters.ts";
import { ObjectParser } from "../json/object-parser.ts";
import type { Json } from "../json/read.ts";
import type { JsonPath } from "../query/compiled-query.ts";
import type { VendorError } from "../vendor-error.ts";

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

/** `sort` of a search's body. @throws VendorError */
export function readSort(json: Json): Sort[] {
  const items = Array.isArray(json) ? json : [json];
  if (items.length > MAX_SORTS) throw illegal(`a search sorts by at most ${MAX_SORTS} fields`);
  return items.flatMap((item, index) => {
    if (typeof item === "string") return [named(item, undefined)];
    if (typeof item === "object" && item !== null && !Array.isArray(item)) {
      const path = Array.isArray(json) ? ["sort", index] : ["sort"];
      return Object.entries(item).map(([field, options]) => withOptions(field, options, [...path, field]));
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

function withOptions(field: string, options: Json, path: JsonPath): Sort {
  if (field === "_script" || field === "_geo_distance") {
    throw illegal(`This twin does not sort by [${field}]`);
  }
  const parser = new ObjectParser(field === "_score" || field === "_doc" ? field : "field_sort", path);
  if (typeof options === "string") {
    const order = orderOf(options);
    if (order === undefined) throw illegal(`Unknown SortOrder [${options}]`);
    return named(field, order);
  }
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw illegal(`malformed sort format, [${field}] takes an order or an object`);
  }
  const { order, ...rest } = options;
  const sort = named(field, order === undefined ? undefined : readOrder(parser, order));
  for (const [name, value] of Object.entries(rest)) {
    if (sort.kind !== "field") throw unknownOption(parser, name, ["order"]);
    readOption(parser, sort, name, value);
  }
  return sort;
}

const optionNames = ["missing", "mode", "format", "unmapped_type", "numeric_type", "order", "nested"];

function readOption(parser: ObjectParser, sort: FieldSort, name: string, value: Json): void {
  switch (name) {
    case "missing":
      if (value === null) return;
      if (typeof value === "object") throw parser.wrongKind(name, value);
      sort.missing = value;
      return;
    case "mode":
      sort.mode = readMode(parser, value);
      return;
    case "format":
      sort.format = parser.text(name, value);
      return;
    case "unmapped_type":
      sort.unmappedType = parser.text(name, value);
      return;
    case "numeric_type": {
      const type = parser.text(name, value);
      if (type === "date_nanos") sort.numericType = "date";
      else if (type === "long" || type === "double" || type === "date") sort.numericType = type;
      else
        parser.fail(
          name,
          "illegal_argument_exception",
          `invalid value for [numeric_type], must be [long, double, date, date_nanos], got ${type}`,
        );
      return;
    }
    case "ignore_unmapped":
      sort.unmappedType = "long";
      return;
    case "nested":
    case "nested_path":
    case "nested_filter":
      throw illegal(`[nested] failed to find nested object under path: this twin has no nested objects`);
    default:
      throw unknownOption(parser, name, optionNames);
  }
}

function unknownOption(parser: ObjectParser, name: string, known: readonly string[]): VendorError {
  return parser.unknown(name, meant(name, known).replace(" -> did", " did"));
}

function readOrder(parser: ObjectParser, value: Json): Order {
  const text = parser.text("order", value);
  return (
    orderOf(text) ??
    parser.fail(
      "order",
      "illegal_argument_exception",
      `No enum constant org.elasticsearch.search.sort.SortOrder.${text.toUpperCase()}`,
    )
  );
}

function orderOf(text: string): Order | undefined {
  const order = text.toLowerCase();
  return order === "asc" || order === "desc" ? order : undefined;
}

const modes = new Set(["min", "max", "sum", "avg", "median"]);
const isMode = (text: string): text is SortMode => modes.has(text);

function readMode(parser: ObjectParser, value: Json): SortMode {
  const text = parser.text("mode", value);
  const mode = text.toLowerCase();
  return isMode(mode)
    ? mode
    : parser.fail("mode", "illegal_argument_exception", `Unknown SortMode [${text}]`);
}
