/** date_histogram: a bucket an interval of time. */

import { raw, type Sql, sql } from "../../datasets/sql.ts";
import { parseDate } from "../dates/date-math.ts";
import { textOf } from "../json/token.ts";
import { illegalOnShard } from "../shard-failure.ts";
import type { Aggregations, BucketsAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import {
  type Bounds,
  checkBounds,
  histogramBuckets,
  mapBounds,
  readHistogramOptions,
} from "./histogram-buckets.ts";
import type { Naming } from "./metrics.ts";
import { Options } from "./options.ts";
import { type Rounding, readRounding } from "./rounding.ts";
import { dateFormatOf, readValues, type Values, zoneOption } from "./values.ts";

export function readDateHistogram(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): BucketsAggregation {
  const values = readValues(options, context, ["date", "long"]);
  const rounding = readRounding(options, values.zone);
  const { minDocCount, keyed, order } = readHistogramOptions(naming, options, children);
  const extended = dateBounds("extended_bounds", rounding, naming, options, context);
  const hard = dateBounds("hard_bounds", rounding, naming, options, context);
  checkBounds(extended, hard, context.index);
  options.done();
  const print = values.print;
  return {
    kind: "buckets",
    ...naming,
    keys: [{ value: roundedKeys(values, rounding), list: values.multi, nullable: false }],
    selection: { kind: "all" },
    children,
    result: (group, make) => ({
      kind: "buckets",
      typeName: "date_histogram",
      meta: naming.meta,
      members: [],
      keyed,
      buckets: histogramBuckets(inside(group, rounding, hard), make, {
        minDocCount,
        // The offset moves the buckets that are filled, though not the bounds that leave some out.
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

/** The groups of a document's moments, each once. */
export function roundedKeys({ kind, value, multi }: Values, rounding: Rounding): Sql {
  const moment = (one: Sql) =>
    kind === "date"
      ? { epochMs: sql`epoch_ms(${one})`, timestamp: one }
      : { epochMs: sql`CAST(${one} AS BIGINT)`, timestamp: undefined };
  if (!multi) return rounding.group(moment(value));
  return sql`list_distinct(list_transform(${value}, lambda x: ${rounding.group(moment(raw("x")))}))`;
}

function inside<Group extends { rows: readonly { keys: readonly unknown[] }[] }>(
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

/** Bounds, rounded. @throws VendorError */
function dateBounds(
  name: string,
  rounding: Rounding,
  naming: Naming,
  options: Options,
  context: AggregationContext,
): Bounds {
  const { nowMs, index } = context;
  const bounds = new Options(name, options.record(name) ?? {});
  const timeZone = zoneOption(options.any("time_zone"));
  const read = (member: "min" | "max") => {
    const value = bounds.any(member);
    if (value === undefined || typeof value === "number") return value;
    const format = dateFormatOf(options, context);
    const zone = timeZone === undefined ? {} : { timeZone };
    return parseDate(textOf(value), { format, nowMs, rounding: "first", ...zone });
  };
  const [min, max] = [read("min"), read("max")];
  bounds.done();
  if (min !== undefined && max !== undefined && min > max) {
    throw illegalOnShard(
      `[${name}.min][${min}] cannot be greater than [${name}.max][${max}] for histogram aggregation [${naming.name}]`,
      index,
    );
  }
  const text = `${textOf(bounds.any("min") ?? "")}--${textOf(bounds.any("max") ?? "")}`;
  return mapBounds({ min, max, text }, rounding.roundBound);
}
