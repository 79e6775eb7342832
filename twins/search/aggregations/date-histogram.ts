/** date_histogram: a bucket an interval of time. */
import { raw, type Sql, sql } from "../../datasets/sql.ts";
import { parseDate } from "../dates/date-math.ts";
import { defaultDateFormat } from "../dates/java-format.ts";
import type { Aggregations, BucketsAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import { argumentError } from "./errors.ts";
import { type Bounds, checkBounds, histogramBuckets, readHistogramOptions } from "./histogram-buckets.ts";
import type { Naming } from "./metrics.ts";
import { Options } from "./options.ts";
import { type Rounding, readRounding } from "./rounding.ts";
import { readValues, type Values, zoneOption } from "./values.ts";

export function readDateHistogram(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): BucketsAggregation {
  const values = readValues(options, context, ["date", "long"]);
  const rounding = readRounding(options, values.zone);
  const { minDocCount, keyed, order } = readHistogramOptions(naming, options, children);
  const readBounds = (name: string) => dateBounds(name, options, context);
  const extended = readBounds("extended_bounds");
  const hard = readBounds("hard_bounds");
  checkBounds(extended, hard);
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
        extended: {
          min: extended.min === undefined ? undefined : rounding.round(extended.min),
          max: extended.max === undefined ? undefined : rounding.round(extended.max),
        },
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

function dateBounds(name: string, options: Options, { nowMs }: AggregationContext): Bounds {
  const record = options.record(name);
  if (!record) return { min: undefined, max: undefined };
  const bounds = new Options(name, record);
  const timeZone = zoneOption(options.any("time_zone"));
  const read = (member: "min" | "max") => {
    const value = bounds.any(member);
    if (value === undefined || typeof value === "number") return value;
    const format = options.text("format") ?? defaultDateFormat;
    const zone = timeZone === undefined ? {} : { timeZone };
    return parseDate(String(value), { format, nowMs, rounding: "first", ...zone });
  };
  const [min, max] = [read("min"), read("max")];
  bounds.done();
  if (min !== undefined && max !== undefined && min > max) {
    throw argumentError(
      `[${name}.min][${String(bounds.any("min"))}] cannot be greater than [${name}.max][${String(bounds.any("max"))}] for histogram aggregation`,
    );
  }
  return { min, max };
}
