/** composite: pages of buckets by several keys. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { ContentParser, type Token } from "../json/content-parser.ts";
import { javaDouble } from "../json/java-number.ts";
import { parsingErrorAt, type Spot } from "../json/located-error.ts";
import { Double } from "../json/numbers.ts";
import { textOf } from "../json/token.ts";
import { VendorError } from "../vendor/error.ts";
import type { Aggregations, BucketsAggregation, KeyColumn, SortOrder } from "./aggregation.ts";
import { type Build, declaredType, type Naming } from "./build.ts";
import type { AggregationContext } from "./context.ts";
import { roundingKeys } from "./date-histogram.ts";
import { argumentError, MAX_BUCKETS, tooManyBucketsAsked } from "./errors.ts";
import { stepKeys } from "./histogram.ts";
import { keyLiteral } from "./include.ts";
import { anyKind } from "./metrics.ts";
import { isRecord, type JsonRecord, Options } from "./options.ts";
import { readRounding, roundingMembers } from "./rounding.ts";
import {
  failedAt,
  type Member,
  type Place,
  readDeclared,
  type Syntax,
  unbuildable,
} from "./syntax/declared.ts";
import { double, flag, integer, MAX_INTEGER, script, text, timeZone, valueTypes } from "./syntax/members.ts";
import { keySql, keyValue } from "./terms.ts";
import { readValues, type Values } from "./values.ts";

interface Source {
  name: string;
  key: KeyColumn;
  order: SortOrder;
  missing: "first" | "last";
  /** Formats a group's key for the answer. */
  show(key: ResultValue): unknown;
  /** Parses a formatted key, as `after` holds it. */
  read(value: unknown): Sql;
}

const sourceMembers = {
  field: text(),
  missing_bucket: flag,
  missing_order: text((order) => checkConstant(order, "bucket.composite.MissingOrder", missingOrders)),
  value_type: valueTypes.value_type,
  script,
  order: text((order) => checkConstant(order, "SortOrder", sortOrders)),
};
const missingOrders = ["first", "last", "default"];
const sortOrders = ["asc", "desc"];

function checkConstant(value: string, type: string, known: readonly string[]): void {
  if (known.includes(value.toLowerCase())) return;
  const name = type === "SortOrder" ? "sort.SortOrder" : `aggregations.${type}`;
  throw argumentError(`No enum constant org.elasticsearch.search.${name}.${value.toUpperCase()}`);
}

const sourceSyntaxes = lookupTable<Syntax>({
  terms: { members: sourceMembers },
  histogram: {
    members: {
      ...sourceMembers,
      interval: double((interval) => {
        if (interval <= 0) throw argumentError("[interval] must be greater than 0 for [histogram] source");
      }),
    },
  },
  date_histogram: {
    members: { ...sourceMembers, ...roundingMembers, format: text(), time_zone: timeZone },
  },
});

/** A source with its name and type. */
interface SourceDefinition {
  readonly name: string;
  readonly type: string;
  readonly options: JsonRecord;
}

function isDefinition(value: unknown): value is SourceDefinition {
  return isRecord(value) && isRecord(value.options);
}

/** One source or a list. The vendor reads them token by token. */
const sourcesMember: Member = {
  tokens: ["START_ARRAY", "START_OBJECT"],
  read(value, place) {
    const content = new ContentParser(value);
    if (content.next() === "START_OBJECT") return checkSources([readDefinition(content, place)]);
    const definitions: SourceDefinition[] = [];
    for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
      if (
        token === undefined ||
        token === "START_ARRAY" ||
        token === "END_OBJECT" ||
        token === "FIELD_NAME"
      ) {
        const reason = `expected value but got [${token}]`;
        throw failedAt(spotOf(content, place), { type: "illegal_state_exception", reason });
      }
      definitions.push(readDefinition(content, place));
    }
    try {
      return checkSources(definitions);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw failedAt({ path: place.path, what: "end" }, error.cause);
    }
  },
};

/** Reads the definition at the current token, and without checking the next two tokens, which should close its two outer objects. */
function readDefinition(content: ContentParser, place: Place): SourceDefinition {
  expect("START_OBJECT", content, place);
  const name = readName(content, place);
  expect("START_OBJECT", content, place);
  const type = readName(content, place);
  expect("START_OBJECT", content, place);
  const spot = spotOf(content, place);
  const syntax = sourceSyntaxes[type];
  if (!syntax) throw parsingErrorAt(spot, `invalid source type: ${type}`);
  const json = isRecord(content.json) ? content.json : {};
  const options = readDeclared(type, syntax, json, { ...place, path: spot.path });
  content.skipChildren();
  content.next();
  content.next();
  return { name, type, options };
}

/** Reads the next member's name and moves to its value. */
function readName(content: ContentParser, place: Place): string {
  content.next();
  expect("FIELD_NAME", content, place);
  const { name } = content;
  content.next();
  return name;
}

function expect(token: Token, content: ContentParser, place: Place): void {
  if (content.token === token) return;
  const reason = `Failed to parse object: expecting token of type [${token}] but found [${content.token}]`;
  throw parsingErrorAt(spotOf(content, place), reason);
}

/** The position of the current token in the body. */
function spotOf({ path, token }: ContentParser, place: Place): Spot {
  const what = token === "FIELD_NAME" ? "name" : token?.startsWith("END_") ? "end" : "value";
  return { path: [...place.path, ...path], what };
}

function checkSources(definitions: readonly SourceDefinition[]): readonly SourceDefinition[] {
  const refuse = (reason: string) => unbuildable("composite", { type: "illegal_argument_exception", reason });
  if (definitions.length === 0) throw refuse("Composite [sources] cannot be null or empty");
  const names = new Set<string>();
  for (const { name } of definitions) {
    if (names.has(name)) throw refuse(`Composite source names must be unique, found duplicates: [${name}]`);
    names.add(name);
  }
  return definitions;
}

const syntax: Syntax = {
  members: {
    sources: sourcesMember,
    size: integer(),
    after: { tokens: ["START_OBJECT"], read: (value) => value },
  },
  check({ sources }) {
    if (sources === undefined) throw argumentError("Required [sources]");
  },
};

const build: Build = ({ naming, options, parents, buildChildren }, context) => {
  checkParents(parents);
  const definitions = (options.list("sources") ?? []).filter(isDefinition);
  const sources = definitions.map((definition) => buildSource(definition, context));
  const after = options.record("after");
  const last = after && readAfter(sources, after);
  const create = buildChildren();
  return () => createComposite(naming, options, { sources, last }, create);
};

export const compositeType = declaredType("composite", "many", syntax, build);

/** Only filters may enclose a composite aggregation. */
function checkParents(parents: readonly Naming[]): void {
  const unfit = parents.find(({ type }) => type !== "filter");
  if (!unfit) return;
  const camel = unfit.type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const factory = `${camel}${unfit.type === "composite" ? "Aggregation" : "Aggregator"}Factory`;
  throw argumentError(
    `[composite] aggregation cannot be used with a parent aggregation of type: [${factory}]`,
  );
}

interface Page {
  sources: readonly Source[];
  /** The formatted keys of the previous page's last bucket, one for each source. */
  last: readonly unknown[] | undefined;
}

function createComposite(
  naming: Naming,
  options: Options,
  { sources, last }: Page,
  createChildren: () => Aggregations,
): BucketsAggregation {
  const children = createChildren();
  const size = options.integer("size") ?? 10;
  if (size <= 0) throw argumentError(`[size] must be greater than 0. Found [${size}] in [${naming.name}]`);
  if (size > MAX_BUCKETS) throw tooManyBucketsAsked(size);
  return {
    kind: "buckets",
    ...naming,
    keys: sources.map(({ key }) => key),
    selection: {
      kind: "page",
      orders: sources.map(({ order, missing }) => ({ order, missing })),
      size,
      after: last && afterCondition(naming, sources, last),
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

function buildSource({ name, type, options: record }: SourceDefinition, context: AggregationContext): Source {
  const options = new Options(type, record);
  const order: SortOrder = options.text("order")?.toLowerCase() === "desc" ? "desc" : "asc";
  const nullable = options.boolean("missing_bucket") ?? false;
  const missing = readMissingOrder(options, order, { nullable });
  const source = { name, order, missing };
  switch (type) {
    case "histogram":
      return { ...source, ...histogramSource(options, context, { nullable }) };
    case "date_histogram":
      return { ...source, ...dateSource(options, context, { nullable }) };
    default:
      return { ...source, ...termsSource(options, context, { nullable }) };
  }
}

function readMissingOrder(options: Options, order: SortOrder, { nullable }: Missing): "first" | "last" {
  const missing = options.text("missing_order")?.toLowerCase() ?? "default";
  if (missing !== "default" && !nullable) {
    throw argumentError("missingOrder can only be set if missingBucket is true");
  }
  if (missing === "first" || missing === "last") return missing;
  return order === "asc" ? "first" : "last";
}

type SourceParts = Pick<Source, "key" | "show" | "read">;

interface Missing {
  /** Whether documents without a value form a bucket. */
  readonly nullable: boolean;
}

function termsSource(options: Options, context: AggregationContext, missing: Missing): SourceParts {
  const values = readValues(options, context, anyKind);
  return {
    key: keyColumn(keySql(values), values, missing),
    show(key) {
      if (key === null) return null;
      if (values.kind === "boolean") return Number(key) !== 0;
      return keyValue(values, key);
    },
    read: (value) => {
      if (values.kind === "keyword" && typeof value !== "string") {
        throw argumentError(`invalid value, expected string, got ${javaClass(value)}`);
      }
      return keyLiteral(values, value);
    },
  };
}

function histogramSource(options: Options, context: AggregationContext, missing: Missing): SourceParts {
  const values = readValues(options, context, ["double", "long", "date"]);
  // As in the vendor, without an interval all numbers share the bucket NaN.
  const interval = options.number("interval") ?? Number.NaN;
  return {
    key: keyColumn(stepKeys(values, interval, 0), values, missing),
    show(key) {
      if (key === null) return null;
      const shown = Number(key) * interval;
      return values.print?.(shown) ?? new Double(shown);
    },
    read: (value) => sql`CAST(${Math.round(values.read(value) / interval)} AS DOUBLE)`,
  };
}

function dateSource(options: Options, context: AggregationContext, missing: Missing): SourceParts {
  const values = readValues(options, context, ["date", "long", "double"]);
  const rounding = readRounding(options, values.zone);
  const format = options.text("format");
  const moment = (value: unknown) =>
    typeof value === "number" || format !== undefined ? values.read(value) : javaDouble(textOf(value));
  return {
    key: keyColumn(roundingKeys(values, rounding), values, missing),
    show(key) {
      if (key === null) return null;
      const shown = rounding.moment(Number(key));
      return format === undefined ? shown : (values.print?.(shown) ?? shown);
    },
    read: (value) => rounding.groupOf(moment(value)),
  };
}

/** A source's key column. With `nullable`, a document without values belongs to the bucket of NULL. */
function keyColumn(keys: Sql, { multi }: Values, { nullable }: Missing): KeyColumn {
  const value =
    multi && nullable ? sql`CASE WHEN coalesce(len(${keys}), 0) = 0 THEN [NULL] ELSE ${keys} END` : keys;
  return { value, list: multi, nullable };
}

/** The keys that a page begins behind, in source order. */
function readAfter(sources: readonly Source[], after: JsonRecord): readonly unknown[] {
  const names = Object.keys(after);
  if (names.length !== sources.length) {
    throw argumentError(`[after] has ${names.length} value(s) but [sources] has ${sources.length}`);
  }
  return sources.map(({ name, key }) => {
    if (!Object.hasOwn(after, name)) throw argumentError(`Missing value for [after.${name}]`);
    const value = after[name];
    if (value === null && key.nullable) return null;
    if (value !== null && typeof value !== "object") return value;
    const found = value === null ? "null" : Array.isArray(value) ? "ArrayList" : "HashMap";
    throw argumentError(`Invalid value for [after.${name}], expected comparable, got [${found}]`);
  });
}

/** The Java class of a scalar. */
function javaClass(value: unknown): string {
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "number" && !Number.isInteger(value)) return "Double";
  return typeof value === "number" && Math.abs(value) <= MAX_INTEGER ? "Integer" : "Long";
}

/** Compares keys lexicographically with those of the previous page's end. */
function afterCondition(
  { name }: Naming,
  sources: readonly Source[],
  values: readonly unknown[],
): (keys: readonly Sql[]) => Sql {
  const last = sources.map((source, index) => {
    try {
      return values[index] === null ? undefined : source.read(values[index]);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      const reason = `incompatible value in the position ${index}: ${error.cause.reason}`;
      throw new VendorError(400, {
        type: "parse_exception",
        reason: `Cannot set after key in the composite aggregation [${name}] - ${reason}`,
        caused_by: { type: "illegal_argument_exception", reason, caused_by: error.cause },
      });
    }
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
