/** `date_histogram`: a bucket for each interval of time. */

import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { textOf } from "../json/token.ts";
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
import { momentKinds } from "./metrics.ts";
import { Options } from "./options.ts";
import { type Rounding, readRounding, roundingMembers } from "./rounding.ts";
import type { Syntax } from "./syntax/declared.ts";
import { dateBounds, fieldOrScript, formattedMembers, timeZone } from "./syntax/members.ts";
import { readValues, type Values } from "./values.ts";

const syntax: Syntax = {
  members: {
    ...formattedMembers,
    ...histogramMembers,
    ...roundingMembers,
    time_zone: timeZone,
    extended_bounds: dateBounds,
    hard_bounds: dateBounds,
  },
  required: fieldOrScript,
};

const build: Build = ({ naming, options, buildChildren }, context) => {
  const values = readValues(options, context, momentKinds);
  const rounding = readRounding(options, values.zone);
  const extended = readBounds("extended_bounds", rounding, naming, options, values);
  const hard = readBounds("hard_bounds", rounding, naming, options, values);
  checkBounds(extended, hard);
  const create = buildChildren();
  return () => createDateHistogram(naming, options, values, { rounding, extended, hard }, create);
};

export const dateHistogramType = declaredType("date_histogram", "many", syntax, build);

interface Shape {
  rounding: Rounding;
  extended: Bounds;
  hard: Bounds;
}

function createDateHistogram(
  naming: Naming,
  options: Options,
  values: Values,
  { rounding, extended, hard }: Shape,
  createChildren: () => Aggregations,
): BucketsAggregation {
  const children = createChildren();
  const { minDocCount, keyed, order } = readHistogramOptions(options, children);
  const print = values.print;
  return {
    kind: "buckets",
    ...naming,
    keys: [{ value: roundingKeys(values, rounding), list: values.multi, nullable: false }],
    selection: { kind: "all" },
    children,
    result: (group, make) => ({
      kind: "buckets",
      typeName: "date_histogram",
      meta: naming.meta,
      members: [],
      keyed,
      buckets: histogramBuckets(withinBounds(group, rounding, hard), make, {
        minDocCount,
        // The offset moves `extended_bounds` and leaves `hard_bounds` alone.
        extended: mapBounds(extended, (bound) => bound + rounding.offsetMs),
        order,
        position: (row) => rounding.moment(Number(row.keys[0])),
        next: rounding.next,
        describe(position) {
          const text = print?.(position);
          return {
            key: text ?? String(position),
            members:
              text === undefined
                ? [["key", position]]
                : [
                    ["key_as_string", text],
                    ["key", position],
                  ],
          };
        },
      }),
    }),
  };
}

/** The distinct groups of a document's moments. */
export function roundingKeys({ kind, value, multi }: Values, rounding: Rounding): Sql {
  const moment = (one: Sql) =>
    kind === "date"
      ? { epochMs: sql`epoch_ms(${one})`, timestamp: one }
      : {
          epochMs: sql`CAST(${kind === "double" ? sql`trunc(${one})` : one} AS BIGINT)`,
          timestamp: undefined,
        };
  if (!multi) return rounding.group(moment(value));
  return sql`list_distinct(list_transform(${value}, lambda x: ${rounding.group(moment(raw("x")))}))`;
}

function withinBounds<Group extends { rows: readonly { keys: readonly unknown[] }[] }>(
  group: Group,
  rounding: Rounding,
  { min, max }: Bounds,
): Group {
  if (min === undefined && max === undefined) return group;
  const rows = group.rows.filter(({ keys }) => {
    const moment = rounding.moment(Number(keys[0]));
    return (min === undefined || moment >= min) && (max === undefined || moment < max);
  });
  return { ...group, rows };
}

/** Reads and rounds bounds. @throws VendorError */
function readBounds(
  name: string,
  rounding: Rounding,
  naming: Naming,
  options: Options,
  values: Values,
): Bounds {
  const bounds = new Options(name, options.record(name) ?? {});
  const read = (member: "min" | "max") => (bounds.has(member) ? values.read(bounds.any(member)) : undefined);
  const [min, max] = [read("min"), read("max")];
  if (min !== undefined && max !== undefined && min > max) {
    throw argumentError(
      `[${name}.min][${min}] cannot be greater than [${name}.max][${max}] for histogram aggregation [${naming.name}]`,
    );
  }
  const text = `${textOf(bounds.any("min") ?? "")}--${textOf(bounds.any("max") ?? "")}`;
  return mapBounds({ min, max, text }, rounding.roundBound);
}
