/** `range`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-range-query.html */

import { timeZoneProblem } from "../../dates/read-time-zone.ts";
import { illegalArgument } from "../../vendor/error.ts";
import {
  checkOneField,
  common,
  commonOf,
  eachMember,
  flag,
  OptionTable,
  requiredField,
  scalarOrBracket,
  text,
  unsupported,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Bound, RangeQuery, Scalar } from "./query.ts";

const readers = {
  gt: scalarOrBracket,
  gte: scalarOrBracket,
  lt: scalarOrBracket,
  lte: scalarOrBracket,
  from: scalarOrBracket,
  to: scalarOrBracket,
  include_lower: flag,
  include_upper: flag,
  format: text,
  time_zone: text,
  relation: text,
  ...common,
};
const relations = ["INTERSECTS", "CONTAINS", "WITHIN", "DISJOINT"];

interface Side {
  value: Scalar | undefined;
  inclusive: boolean;
}

/** Reads a range; of several bounds on one side, the last one counts. */
export function readRange(parser: Parser): RangeQuery {
  const { content } = parser;
  const table = new OptionTable(parser, readers);
  const { options } = table;
  const lower: Side = { value: undefined, inclusive: true };
  const upper: Side = { value: undefined, inclusive: true };
  let field: string | undefined;
  const readBound = () => {
    const value = options[content.name as keyof typeof options];
    const side = /^(gte?|from)$/.test(content.name) ? lower : upper;
    if (content.name === "include_lower") lower.inclusive = options.include_lower ?? true;
    else if (content.name === "include_upper") upper.inclusive = options.include_upper ?? true;
    else if (/^([gl]te?|from|to)$/.test(content.name)) {
      side.value = value;
      if (/^[gl]/.test(content.name)) side.inclusive = content.name.endsWith("e");
    }
  };
  eachMember(content, () => {
    if (content.token === "START_OBJECT") {
      checkOneField(content, "range", field);
      field = content.name;
      eachMember(content, () => {
        if (!table.take()) throw unsupported(content, "range");
        readBound();
      });
    } else if (content.isValue) throw unsupported(content, "range");
  });
  checkTimeZone(options.time_zone);
  checkRelation(options.relation);
  return {
    kind: "range",
    field: requiredField(field),
    lower: boundOf(lower),
    upper: boundOf(upper),
    format: options.format,
    timeZone: options.time_zone,
    ...commonOf(options, "range"),
  };
}

function boundOf({ value, inclusive }: Side): Bound | undefined {
  return value === undefined ? undefined : { value, inclusive };
}

function checkTimeZone(name: string | undefined): void {
  const problem = name === undefined ? undefined : timeZoneProblem(name);
  if (problem)
    throw illegalArgument(`java.time.${problem.javaClass}: ${problem.cause.reason}`, problem.cause);
}

/** Checks the name alone: without range fields, all relations mean the same. */
function checkRelation(relation: string | undefined): void {
  if (relation === undefined) return;
  if (!relations.includes(relation.toUpperCase())) {
    throw illegalArgument(`${relation} is not a valid relation`);
  }
  if (relation.toUpperCase() === "DISJOINT") {
    throw illegalArgument(`[range] query does not support relation [${relation}]`);
  }
}
