/** `histogram`: a bucket for each interval of numbers. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { Double, doubleText } from "../json/numbers.ts";
import type { Aggregations, BucketsAggregation } from "./aggregation.ts";
import { type Build, declaredType, type Naming } from "./build.ts";
import { argumentError } from "./errors.ts";
import {
  type Bounds,
  checkBounds,
  histogramBuckets,
  histogramMembers,
  mapBounds,
  readHistogramOptions,
} from "./histogram-buckets.ts";
import { numericKinds } from "./metrics.ts";
import { Options } from "./options.ts";
import type { Syntax } from "./syntax/declared.ts";
import { double, doubleBounds, fieldOrScript, formattedMembers } from "./syntax/members.ts";
import { numeric, readValues, type Values } from "./values.ts";

const syntax: Syntax = {
  members: {
    ...formattedMembers,
    ...histogramMembers,
    interval: double((interval, { name }) => {
      if (!(interval > 0)) throw argumentError(`[interval] must be >0 for histogram aggregation [${name}]`);
    }),
    offset: double(),
    extended_bounds: doubleBounds,
    hard_bounds: doubleBounds,
  },
  required: fieldOrScript,
};

const build: Build = ({ naming, options, buildChildren }, context) => {
  const values = readValues(options, context, numericKinds);
  const extended = readBounds("extended_bounds", options, "null");
  const hard = readBounds("hard_bounds", options, "");
  checkBounds(extended, hard);
  const create = buildChildren();
  return () => createHistogram(naming, options, values, { extended, hard }, create);
};

export const histogramType = declaredType("histogram", "many", syntax, build);

function createHistogram(
  naming: Naming,
  options: Options,
  values: Values,
  { extended, hard }: { extended: Bounds; hard: Bounds },
  createChildren: () => Aggregations,
): BucketsAggregation {
  const children = createChildren();
  const interval = options.number("interval");
  if (interval === undefined) throw argumentError("interval must be positive, got: 0.0");
  const offset = options.number("offset") ?? 0;
  const { minDocCount, keyed, order } = readHistogramOptions(options, children);
  const round = (value: number) => Math.floor((value - offset) / interval) * interval + offset;
  // The vendor compares the bounds without the offset, both inclusive.
  const withinBounds = (value: number) =>
    (hard.min === undefined || value - offset >= hard.min) &&
    (hard.max === undefined || value - offset <= hard.max);
  const position = (key: unknown) => Number(key) * interval + offset;
  return {
    kind: "buckets",
    ...naming,
    keys: [{ value: stepKeys(values, interval, offset), list: values.multi, nullable: false }],
    selection: { kind: "all" },
    children,
    result: (group, make) => ({
      kind: "buckets",
      typeName: "histogram",
      meta: naming.meta,
      members: [],
      keyed,
      buckets: histogramBuckets(
        { ...group, rows: group.rows.filter(({ keys }) => withinBounds(position(keys[0]))) },
        make,
        {
          minDocCount,
          extended: mapBounds(extended, round),
          order,
          position: ({ keys }) => position(keys[0]),
          next: (key) => round(key + interval * 1.5),
          describe(key) {
            const text = values.print?.(key);
            return {
              key: text ?? doubleText(key),
              members: [
                ...(text === undefined ? [] : ([["key_as_string", text]] as const)),
                ["key", new Double(key)],
              ],
            };
          },
        },
      ),
    }),
  };
}

/** How many intervals a value lies above the offset, rounded down; distinct for a list. */
export function stepKeys(values: Values, interval: number, offset: number): Sql {
  const step = (value: Sql) =>
    sql`floor((CAST(${value} AS DOUBLE) - CAST(${offset} AS DOUBLE)) / CAST(${interval} AS DOUBLE))`;
  const number = numeric(values);
  return values.multi
    ? sql`list_distinct(list_transform(${number}, lambda x: ${step(sql`x`)}))`
    : step(number);
}

/** @param absent the text in errors for a missing bound */
function readBounds(name: string, options: Options, absent: string): Bounds {
  const bounds = new Options(name, options.record(name) ?? {});
  const [min, max] = [bounds.number("min"), bounds.number("max")];
  const shown = (bound: number | undefined) => (bound === undefined ? absent : doubleText(bound));
  return { min, max, text: `${shown(min)}--${shown(max)}` };
}
