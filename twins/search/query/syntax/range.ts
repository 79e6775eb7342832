/** `range`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-range-query.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { common, commonOf, fieldBody, flag, type Options, readOptions, scalar, text } from "./options.ts";
import { isObject, type Parser } from "./parser.ts";
import type { Bound, RangeQuery, Scalar } from "./query.ts";

const readers = {
  gt: scalar,
  gte: scalar,
  lt: scalar,
  lte: scalar,
  from: scalar,
  to: scalar,
  include_lower: flag,
  include_upper: flag,
  format: text,
  time_zone: text,
  relation: text,
  ...common,
};
const relations = ["INTERSECTS", "CONTAINS", "WITHIN"];

export function readRange(parser: Parser, json: Record<string, unknown>, path: JsonPath): RangeQuery {
  const { field, body: fieldJson, path: at } = fieldBody(parser, json, path, "range", ["boost", "_name"]);
  if (!isObject(fieldJson)) throw parser.unsupported("range", field, at);
  const { boost, _name } = json;
  const beside = { ...(boost !== undefined && { boost }), ...(_name !== undefined && { _name }) };
  const options = readOptions(parser, { ...beside, ...fieldJson }, at, "range", readers);
  // A dataset has no range fields: of single values, every relation asks the same.
  const { relation } = options;
  if (relation !== undefined && !relations.includes(relation.toUpperCase())) {
    const reason = `[range] query does not support relation [${relation}]`;
    throw relation.toUpperCase() === "DISJOINT"
      ? illegalArgument(reason)
      : parsingError(reason, parser.at(at));
  }
  return {
    kind: "range",
    field,
    lower: lastOf(fieldJson, options, { gt: false, gte: true, from: options.include_lower ?? true }),
    upper: lastOf(fieldJson, options, { lt: false, lte: true, to: options.include_upper ?? true }),
    format: options.format,
    timeZone: options.time_zone,
    ...commonOf(options),
  };
}

type BoundName = "gt" | "gte" | "lt" | "lte" | "from" | "to";

/** Of several bounds of one side, the one that was written last holds. */
function lastOf(
  json: Record<string, unknown>,
  options: Options<typeof readers>,
  inclusive: Partial<Record<BoundName, boolean>>,
): Bound | undefined {
  let bound: Bound | undefined;
  for (const name of Object.keys(json)) {
    const includes = inclusive[name as BoundName];
    if (includes === undefined) continue;
    const value: Scalar | undefined = options[name as BoundName];
    bound = value === undefined ? undefined : { value, inclusive: includes };
  }
  return bound;
}
