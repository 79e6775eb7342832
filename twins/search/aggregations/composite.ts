/** composite: pages of buckets by several keys. */
import { joined, raw, type Sql, sql } from "../../datasets/sql.ts";
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { parseDate } from "../dates/date-math.ts";
import { defaultDateFormat } from "../dates/java-format.ts";
import { Double } from "../json/numbers.ts";
import { numberIn, textOf, tokenOf } from "../json/token.ts";
import type { Aggregations, BucketsAggregation, KeyColumn, SortOrder } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import { roundedKeys } from "./date-histogram.ts";
import { argumentError, MAX_BUCKETS, parsingError } from "./errors.ts";
import { readInterval, stepKeys } from "./histogram.ts";
import { keyLiteral } from "./include.ts";
import { anyKind, type Naming, numericKinds } from "./metrics.ts";
import { isRecord, type JsonRecord, Options } from "./options.ts";
import { readRounding } from "./rounding.ts";
import { keySql, keyValue } from "./terms.ts";
import { readValues } from "./values.ts";

interface Source {
  name: string;
  key: KeyColumn;
  order: SortOrder;
  missing: "first" | "last";
  /** A group's key as it is shown. */
  show(key: ResultValue): unknown;
  /** A shown key as a group's key. */
  read(value: unknown): Sql;
}

export function readComposite(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): BucketsAggregation {
  const list = options.list("sources");
  if (list === undefined || list.length === 0) {
    throw argumentError("Composite [sources] cannot be null or empty");
  }
  const sources = list.map((one) => readSource(one, context));
  const names = new Set<string>();
  for (const { name } of sources) {
    if (names.has(name))
      throw argumentError(`Composite source names must be unique, found duplicates: [${name}]`);
    names.add(name);
  }
  const size = options.integer("size") ?? 10;
  if (size <= 0) throw argumentError(`[size] must be greater than 0. Found [${size}] in [${naming.name}]`);
  if (size > MAX_BUCKETS) {
    throw argumentError(
      `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but was [${size}]. This limit can be set by changing the [search.max_buckets] cluster level setting.`,
    );
  }
  const after = options.record("after");
  options.done();
  return {
    kind: "buckets",
    ...naming,
    keys: sources.map(({ key }) => key),
    selection: {
      kind: "page",
      orders: sources.map(({ order, missing }) => ({ order, missing })),
      size,
      after: after ? afterCondition(sources, after) : undefined,
    },
    children,
    result({ rows }, make) {
      const keyOf = (keys: readonly ResultValue[]) =>
        new Map(sources.map(({ name, show }, index) => [name, show(keys[index] ?? null)]));
      const last = rows.at(-1);
      return {
        kind: "buckets",
        typeName: "composite",
        meta: naming.meta,
        members: last ? [["after_key", keyOf(last.keys)]] : [],
        keyed: false,
        buckets: rows.map((row) => {
          const key = keyOf(row.keys);
          return make(row, {
            key: [...key].map(([name, value]) => `${name}=${String(value)}`).join(","),
            position: undefined,
            members: [
              ["key", key],
              ["doc_count", row.docCount],
            ],
          });
        }),
      };
    },
  };
}

function readSource(json: unknown, context: AggregationContext): Source {
  const [named, ...others] = isRecord(json) ? Object.entries(json) : [];
  if (!named || others.length > 0 || !isRecord(named[1])) {
    throw parsingError(`Expected [START_OBJECT] under [sources], but got a [${tokenOf(json)}]`);
  }
  const [name, definition] = named;
  const [typed, ...more] = Object.entries(definition);
  if (!typed || more.length > 0 || !isRecord(typed[1])) {
    throw parsingError(`[${name}] must hold exactly one type of source`);
  }
  const [type, record] = typed;
  const options = new Options(type, record);
  const order = readDirection(options);
  const nullable = options.boolean("missing_bucket") ?? false;
  const missing = readMissingOrder(options, order, nullable);
  const source = { name, order, missing };
  switch (type) {
    case "terms":
      return { ...source, ...termsSource(options, context, nullable) };
    case "histogram":
      return { ...source, ...histogramSource(options, context, nullable) };
    case "date_histogram":
      return { ...source, ...dateSource(options, context, nullable) };
    default:
      throw parsingError(`invalid source type: ${type}`);
  }
}

function readDirection(options: Options): SortOrder {
  const order = options.text("order")?.toLowerCase() ?? "asc";
  if (order === "asc" || order === "desc") return order;
  throw argumentError(`Unknown SortOrder [${order}]`);
}

function readMissingOrder(options: Options, order: SortOrder, nullable: boolean): "first" | "last" {
  const missing = options.text("missing_order")?.toLowerCase() ?? "default";
  if (missing !== "default" && !nullable) {
    throw argumentError(`missingOrder [${missing}] requires missingBucket to be true`);
  }
  if (missing === "first" || missing === "last") return missing;
  if (missing !== "default") throw argumentError(`Unknown missing order [${missing}]`);
  return order === "asc" ? "first" : "last";
}

type SourceParts = Pick<Source, "key" | "show" | "read">;

function termsSource(options: Options, context: AggregationContext, nullable: boolean): SourceParts {
  const values = readValues(options, context, anyKind);
  const format = options.text("format");
  options.done();
  return {
    key: { value: withNull(keySql(values), values.multi && nullable), list: values.multi, nullable },
    show(key) {
      if (key === null) return null;
      if (values.kind === "boolean") return Number(key) !== 0;
      if (values.kind === "date" && format !== undefined) return values.print?.(Number(key)) ?? key;
      return keyValue(values, key);
    },
    read: (value) => keyLiteral(values, value),
  };
}

function histogramSource(options: Options, context: AggregationContext, nullable: boolean): SourceParts {
  const values = readValues(options, context, numericKinds);
  const interval = readInterval(options);
  options.done();
  return {
    key: {
      value: withNull(stepKeys(values, interval, 0), values.multi && nullable),
      list: values.multi,
      nullable,
    },
    show: (key) => (key === null ? null : new Double(Number(key) * interval)),
    read: (value) => sql`CAST(${Math.round(numberIn(value) / interval)} AS DOUBLE)`,
  };
}

function dateSource(options: Options, context: AggregationContext, nullable: boolean): SourceParts {
  const values = readValues(options, context, ["date", "long"]);
  const rounding = readRounding(options, values.zone);
  const format = options.text("format");
  options.done();
  const zone = values.zone.id === "Z" ? {} : { timeZone: values.zone.id };
  const moment = (value: unknown) =>
    typeof value === "number" && format === undefined
      ? value
      : parseDate(textOf(value), {
          format: format ?? defaultDateFormat,
          nowMs: context.nowMs,
          rounding: "first",
          ...zone,
        });
  return {
    key: {
      value: withNull(roundedKeys(values, rounding), values.multi && nullable),
      list: values.multi,
      nullable,
    },
    show(key) {
      if (key === null) return null;
      const shown = rounding.moment(Number(key));
      return format === undefined ? shown : (values.print?.(shown) ?? shown);
    },
    read: (value) => rounding.groupOf(moment(value)),
  };
}

/** A document without values is in the bucket of none. */
function withNull(keys: Sql, wanted: boolean): Sql {
  return wanted ? sql`CASE WHEN coalesce(len(${keys}), 0) = 0 THEN [NULL] ELSE ${keys} END` : keys;
}

/** Later in the first key that differs. */
function afterCondition(sources: readonly Source[], after: JsonRecord): (keys: readonly Sql[]) => Sql {
  const names = Object.keys(after);
  if (names.length !== sources.length) {
    throw argumentError(`[after] has ${names.length} value(s) but [sources] has ${sources.length}`);
  }
  const last = sources.map((source) => {
    if (after[source.name] === undefined) throw argumentError(`Missing value for [after.${source.name}]`);
    const value = after[source.name];
    if (value === null && !source.key.nullable)
      throw argumentError(`Invalid value for [after.${source.name}]: null`);
    return value === null ? undefined : source.read(value);
  });
  return (keys) => {
    const later = sources.map((source, index) => {
      const equal = sources
        .slice(0, index)
        .map((_, before) => sameKey(keys[before] ?? raw("NULL"), last[before]));
      return sql`(${joined([...equal, laterKey(source, keys[index] ?? raw("NULL"), last[index])], " AND ")})`;
    });
    return sql`(${joined(later, " OR ")})`;
  };
}

function sameKey(key: Sql, value: Sql | undefined): Sql {
  return value === undefined ? sql`${key} IS NULL` : sql`${key} = ${value}`;
}

function laterKey({ order, missing }: Source, key: Sql, value: Sql | undefined): Sql {
  if (value === undefined) return missing === "first" ? sql`${key} IS NOT NULL` : raw("FALSE");
  const compared = sql`${key} ${raw(order === "asc" ? ">" : "<")} ${value}`;
  return missing === "last" ? sql`(${compared} OR ${key} IS NULL)` : compared;
}
