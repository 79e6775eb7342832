/**
 * `percentiles` and `percentile_ranks`, exact, as the vendor's t-digest is while it holds every value.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-aggregations-metrics-percentile-aggregation.html
 */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { Double, doubleText } from "../json/numbers.ts";
import { VendorError } from "../vendor/error.ts";
import type { MetricAggregation } from "./aggregation.ts";
import type { Naming } from "./build.ts";
import { argumentError } from "./errors.ts";
import { metricType, numberOf, numericKinds } from "./metrics.ts";
import { Options } from "./options.ts";
import type { Members, MetricResult } from "./result.ts";
import { type Syntax, unbuildable } from "./syntax/declared.ts";
import {
  double,
  doubles,
  fieldOrScript,
  flag,
  formattedMembers,
  integer,
  object,
  text,
} from "./syntax/members.ts";
import { numeric, readValues, type Values } from "./values.ts";

const defaultPercents: readonly number[] = [1, 5, 25, 50, 75, 95, 99];

const hdr = object("hdr", {
  members: {
    number_of_significant_value_digits: integer((digits) => {
      if (digits >= 0 && digits <= 5) return;
      throw argumentError("[numberOfSignificantValueDigits] must be between 0 and 5");
    }),
  },
});

const tdigest = object("tdigest", {
  members: {
    compression: double((compression) => {
      if (compression >= 0) return;
      throw argumentError(
        `[compression] must be greater than or equal to 0. Found [${doubleText(compression)}]`,
      );
    }),
    execution_hint: text((hint) => {
      if (hint === "default" || hint === "high_accuracy") return;
      throw argumentError(`Invalid execution_hint [${hint}], valid values are [default, high_accuracy]`);
    }),
  },
});

const shapeMembers = { ...formattedMembers, keyed: flag, hdr, tdigest };

/** @param check called at the end of the object; throws its errors */
function percentileSyntax(
  parser: string,
  list: string,
  check: (numbers: readonly number[] | undefined, name: string) => void,
): Syntax {
  return {
    members: { ...shapeMembers, [list]: doubles },
    required: fieldOrScript,
    check(values, { name }) {
      try {
        if (values.hdr && values.tdigest) {
          throw argumentError("Only one percentiles method should be declared.");
        }
        check(new Options(parser, values).numbers(list), name);
      } catch (error) {
        throw error instanceof VendorError ? unbuildable(parser, error.cause) : error;
      }
    },
  };
}

export const percentilesType = metricType(
  "percentiles",
  percentileSyntax("percentiles", "percents", (percents, name) => checkPercents(percents ?? [50], name)),
  (naming, options, context) => {
    const values = readValues(options, context, numericKinds);
    const percents = readPercents(options);
    return percentileAggregation(naming, options, values, percents, (filter) =>
      quantilesSql(values, filter, percents),
    );
  },
);

function checkPercents(percents: readonly number[], name: string): void {
  if (percents.length === 0) throw argumentError(`[percents] must not be empty: [${name}]`);
  const found = new Set<number>();
  for (const percent of [...percents].sort((a, b) => a - b)) {
    if (!(percent >= 0 && percent <= 100)) {
      throw argumentError(`percent must be in [0,100], got [${doubleText(percent)}]: [${name}]`);
    }
    if (found.has(percent)) {
      throw argumentError(`percent [${doubleText(percent)}] has been specified twice: [${name}]`);
    }
    found.add(percent);
  }
}

export function readPercents(options: Options): readonly number[] {
  return [...(options.numbers("percents") ?? defaultPercents)].sort((a, b) => a - b);
}

export const percentileRanksType = metricType(
  "percentile_ranks",
  percentileSyntax("percentile_ranks", "values", (values, name) => {
    if (values === undefined) throw argumentError(`[values] must not be null: [${name}]`);
    if (values.length === 0) throw argumentError(`[values] must not be an empty array: [${name}]`);
  }),
  (naming, options, context) => {
    const values = readValues(options, context, numericKinds);
    const ranked = [...new Set(options.numbers("values"))].sort((a, b) => a - b);
    return percentileAggregation(naming, options, values, ranked, (filter) => {
      const ranks = ranked.map((value) => rankSql(values, filter, value));
      return sql`[${joined(ranks, ", ")}]`;
    });
  },
);

/** All percentiles as one LIST. */
function quantilesSql(values: Values, filter: Sql, percents: readonly number[]): Sql {
  const number = numeric(values);
  const at = sql`[${joined(
    percents.map((percent) => sql`CAST(${percent / 100} AS DOUBLE)`),
    ", ",
  )}]`;
  if (!values.multi) return sql`quantile_cont(CAST(${number} AS DOUBLE), ${at})${filter}`;
  const all = sql`list_transform(flatten(list(${number})${filter}), lambda x: CAST(x AS DOUBLE))`;
  return sql`list_aggregate(${all}, 'quantile_cont', ${at})`;
}

/**
 * The percentage of values below one, as the vendor's t-digest computes it while it holds every value: each value is spread evenly
 * from the midpoint with its predecessor to the midpoint with its successor.
 */
function rankSql(values: Values, filter: Sql, value: number): Sql {
  const all = values.multi
    ? sql`list_transform(flatten(list(${numeric(values)})${filter}), lambda x: CAST(x AS DOUBLE))`
    : sql`list(CAST(${numeric(values)} AS DOUBLE))${filter}`;
  const sorted = sql`list_sort(list_filter(${all}, lambda x: x IS NOT NULL))`;
  const at = sql`CAST(${value} AS DOUBLE)`;
  const next = raw("(v[i + 1] - v[i]) / 2");
  const before = raw("(v[i] - v[i - 1]) / 2");
  const step = (left: Sql, right: Sql) =>
    sql`(i - 1 + (${at} - v[i] + ${left}) / (${left} + ${right})) / len(v) * 100`;
  // The lambdas only bind names. v: the sorted list; c: how many values are at most the given one; i: the index of the value whose
  // step contains it.
  return sql`list_transform([${sorted}], lambda v: CASE
    WHEN len(v) = 0 THEN NULL
    WHEN ${at} < v[1] THEN 0
    WHEN ${at} > v[len(v)] THEN 100
    WHEN v[1] = v[len(v)] THEN 50
    ELSE list_transform([len(list_filter(v, lambda x: x <= ${at}))], lambda c:
      list_transform([CASE WHEN c < len(v) AND ${at} >= (v[c] + v[c + 1]) / 2 THEN c + 1 ELSE c END], lambda i: CASE
        WHEN i = len(v) AND v[i] = v[i - 1] THEN (i - 1) / len(v) * 100
        WHEN i = len(v) THEN ${step(before, before)}
        WHEN i = 1 THEN ${step(next, next)}
        ELSE ${step(before, next)} END)[1])[1]
    END)[1]`;
}

function percentileAggregation(
  { name, type, meta }: Naming,
  options: Options,
  values: Values,
  keys: readonly number[],
  column: (filter: Sql) => Sql,
): MetricAggregation {
  const keyed = options.boolean("keyed") ?? true;
  const method = options.has("hdr") ? "hdr" : "tdigest";
  const typeName = `${method}_${type}`;
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns: (filter) => [column(filter)],
    metricValue([list = raw("NULL")], property) {
      const index = property === undefined ? -1 : keys.indexOf(Number(property));
      return index < 0 ? undefined : sql`${list}[${raw(String(index + 1))}]`;
    },
    result: (row) =>
      percentilesResult(
        { typeName, meta },
        keys,
        keys.map((_, index) => numberOf(listOf(row?.[0])[index])),
        { keyed, print: values.print },
      ),
  };
}

function listOf(value: ResultValue | undefined): readonly ResultValue[] {
  return Array.isArray(value) ? value : [];
}

export function percentilesResult(
  described: Pick<MetricResult, "typeName" | "meta">,
  keys: readonly number[],
  values: readonly number[],
  { keyed, print }: { keyed: boolean; print: Values["print"] },
): MetricResult {
  const entries = keys.map((key, index) => ({ key, value: values[index] ?? Number.NaN }));
  const metricValue = (value: number) => (Number.isFinite(value) ? new Double(value) : null);
  const text = (name: string, value: number): Members =>
    print && Number.isFinite(value) ? [[name, print(value)]] : [];
  const body = keyed
    ? new Map(
        entries.flatMap(
          ({ key, value }): Members => [
            [doubleText(key), metricValue(value)],
            ...text(`${doubleText(key)}_as_string`, value),
          ],
        ),
      )
    : entries.map(
        ({ key, value }) =>
          new Map<string, unknown>([
            ["key", new Double(key)],
            ["value", metricValue(value)],
            ...text("value_as_string", value),
          ]),
      );
  return {
    kind: "metric",
    ...described,
    members: [["values", body]],
    metricValue: (name) => entries.find(({ key }) => key === Number(name))?.value,
  };
}
