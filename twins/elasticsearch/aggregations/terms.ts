/** `terms`: a bucket for each value. */
import { printIp } from "@offhook/log-store/ip-address";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { Double } from "../json/numbers.ts";
import { VendorError } from "../vendor/error.ts";
import type { Aggregations, BucketRow, BucketsAggregation, MakeBucket, OrderTerm } from "./aggregation.ts";
import { type Build, declaredType, type Naming } from "./build.ts";
import { argumentError } from "./errors.ts";
import { excludeMember, includeMember, readIncludeExclude } from "./include.ts";
import { anyKind } from "./metrics.ts";
import type { Options } from "./options.ts";
import { checkOrder, orderMember, readOrder } from "./order.ts";
import type { Members } from "./result.ts";
import type { Syntax } from "./syntax/declared.ts";
import {
  fieldOrScript,
  flag,
  formattedMembers,
  integer,
  long,
  notNegative,
  positive,
  text,
} from "./syntax/members.ts";
import { readValues, type Values } from "./values.ts";

const defaultOrder: readonly OrderTerm[] = [
  { path: "_count", order: "desc" },
  { path: "_key", order: "asc" },
];

const syntax: Syntax = {
  members: {
    ...formattedMembers,
    size: integer(positive("size")),
    shard_size: integer(positive("shardSize")),
    min_doc_count: long(notNegative("minDocCount")),
    shard_min_doc_count: long(notNegative("shardMinDocCount")),
    order: orderMember,
    include: includeMember,
    exclude: excludeMember,
    show_term_doc_count_error: flag,
    execution_hint: text(),
    collect_mode: text((mode) => {
      if (mode === "breadth_first" || mode === "depth_first") return;
      throw new VendorError(400, {
        type: "parse_exception",
        reason: `no [collect_mode] found for value [${mode}]`,
      });
    }),
  },
  required: fieldOrScript,
};

const build: Build = ({ naming, options, buildChildren }, context) => {
  const values = readValues(options, context, anyKind);
  const create = buildChildren();
  return () => createTerms(naming, options, values, create);
};

export const termsType = declaredType("terms", "many", syntax, build);

function createTerms(
  naming: Naming,
  options: Options,
  values: Values,
  createChildren: () => Aggregations,
): BucketsAggregation {
  if (values.kind === "keyword") checkExecutionHint(options);
  const wanted = values.mapped ? readIncludeExclude(naming, options, values) : undefined;
  const children = createChildren();
  const size = options.integer("size") ?? 10;
  const ofShard = options.integer("shard_size");
  const minDocCount = options.integer("min_doc_count") ?? 1;
  const order = readOrder(options.any("order"), defaultOrder);
  checkOrder(order, children);
  const showError = options.boolean("show_term_doc_count_error") ?? false;
  const shardMinDocCount = Math.min(options.integer("shard_min_doc_count") ?? 0, minDocCount);
  const byCount = order[0]?.path === "_count" && order[0].order === "desc";
  const byKey = order[0]?.path === "_key";
  const shardSize = Math.max(size, ofShard ?? (byKey ? size : Math.floor(size * 1.5 + 10)));
  return {
    kind: "buckets",
    ...naming,
    keys: [{ value: keySql(values), list: values.multi, nullable: false }],
    selection: {
      kind: "top",
      order,
      // A shard returns its first `shard_size` terms whatever their counts; `min_doc_count` applies afterwards.
      size: minDocCount > 1 ? shardSize : size,
      minDocCount: shardMinDocCount,
      everyKey: minDocCount === 0,
      wanted,
    },
    children,
    result(group, make) {
      const enough = group.rows.filter(({ docCount }) => docCount >= minDocCount).slice(0, size);
      const tooFew = documentsOf(group.rows.filter(({ docCount }) => docCount < minDocCount));
      const others = group.total - tooFew - documentsOf(enough);
      const error = !byCount && !byKey && group.groups >= shardSize ? -1 : 0;
      return {
        kind: "buckets",
        typeName: typeName(values),
        meta: naming.meta,
        members: [
          ["doc_count_error_upper_bound", error],
          ["sum_other_doc_count", others],
        ],
        keyed: false,
        buckets: makeBuckets(enough, make, values, showError ? [["doc_count_error_upper_bound", error]] : []),
      };
    },
  };
}

function checkExecutionHint(options: Options): void {
  const hint = options.text("execution_hint");
  if (hint === undefined || hint === "map" || hint === "global_ordinals") return;
  throw argumentError(`Unknown \`execution_hint\`: [${hint}], expected any of [map, global_ordinals]`);
}

function documentsOf(rows: readonly BucketRow[]): number {
  return rows.reduce((sum, { docCount }) => sum + docCount, 0);
}

function makeBuckets(rows: readonly BucketRow[], make: MakeBucket, values: Values, more: Members) {
  return rows.map((row) => {
    const key = row.keys[0] ?? null;
    return make(row, {
      key: keyText(values, key),
      position: typeof key === "string" ? undefined : Number(key),
      members: [...keyMembers(values, key), ["doc_count", row.docCount], ...more],
    });
  });
}

/** A document's value as a key: dates in milliseconds, booleans as 0 and 1, distinct for a list. */
export function keySql({ kind, value, multi }: Values): Sql {
  const convert = kind === "date" ? "epoch_ms(x)" : kind === "boolean" ? "CAST(x AS BIGINT)" : "x";
  if (multi) {
    return convert === "x"
      ? sql`list_distinct(${value})`
      : sql`list_distinct(list_transform(${value}, lambda x: ${raw(convert)}))`;
  }
  return kind === "date"
    ? sql`epoch_ms(${value})`
    : kind === "boolean"
      ? sql`CAST(${value} AS BIGINT)`
      : value;
}

/** `key`, and `key_as_string` where the vendor has it. */
function keyMembers(values: Values, key: ResultValue): Members {
  const members: [string, unknown][] = [["key", keyValue(values, key)]];
  if (values.print && values.kind !== "keyword") members.push(["key_as_string", values.print(Number(key))]);
  return members;
}

export function keyValue({ kind }: Values, key: ResultValue): unknown {
  if (kind === "ip" && key !== null) return printIp(String(key));
  return kind === "double" ? new Double(Number(key)) : key;
}

/** The key in paths. */
function keyText(values: Values, key: ResultValue): string {
  if (values.kind === "ip") return printIp(String(key));
  return values.print && values.kind !== "keyword" ? values.print(Number(key)) : String(key);
}

function typeName({ kind, mapped }: Values): string {
  if (!mapped) return "umterms";
  return kind === "keyword" || kind === "ip" ? "sterms" : kind === "double" ? "dterms" : "lterms";
}
