/** `include` and `exclude` of a terms aggregation. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { javaDouble } from "../json/java-number.ts";
import { textOf } from "../json/token.ts";
import { luceneToRe2 } from "../query/compile/regexp.ts";
import { VendorError } from "../vendor/error.ts";
import type { Naming } from "./build.ts";
import { argumentError } from "./errors.ts";
import { isRecord, type JsonRecord, type Options } from "./options.ts";
import { failedAt, type Member, type Place } from "./syntax/declared.ts";
import { addressLiteral, type Values } from "./values.ts";

const MAX_TERMS = 65_536;
/** `index.max_regex_length` */
const MAX_REGEXP = 1_000;

type KeyCondition = (key: Sql) => Sql;

/** A regular expression, a list of keys, or a partition of all keys. */
export const includeMember: Member = {
  tokens: ["VALUE_STRING", "START_ARRAY", "START_OBJECT"],
  read(value, place, before) {
    const read = isRecord(value) ? readPartition(value, place) : readKeys(value, place);
    if (isRecord(value) && before.exclude !== undefined) throw partitionOnly();
    return read;
  },
};

export const excludeMember: Member = {
  tokens: ["VALUE_STRING", "START_ARRAY"],
  read(value, place, before) {
    const read = readKeys(value, place);
    if (isRecord(before.include)) throw partitionOnly();
    return read;
  },
};

function partitionOnly(): VendorError {
  return argumentError("Cannot specify any excludes when using a partition-based include");
}

function readKeys(value: unknown, { path }: Place): unknown {
  if (typeof value === "string") {
    checkLength(value);
    luceneToRe2(value);
    return value;
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  for (const [index, item] of items.entries()) {
    if (item !== null && typeof item !== "object") continue;
    throw failedAt(
      { path: [...path, index], what: "value" },
      {
        type: "parse_exception",
        reason: "Array elements in include/exclude clauses should be string values",
      },
    );
  }
  return items;
}

function checkLength(pattern: string): void {
  if (pattern.length <= MAX_REGEXP) return;
  throw argumentError(
    `The length of regex [${pattern.length}] used in the request has exceeded the allowed maximum of [${MAX_REGEXP}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
  );
}

/** Reads `{ partition, num_partitions }`. */
function readPartition(value: JsonRecord, { path }: Place): JsonRecord {
  const read = new Map<string, number>();
  for (const [member, one] of Object.entries(value)) {
    const cursor = { path: [...path, member], what: "value" as const };
    if (member !== "partition" && member !== "num_partitions") {
      throw failedAt(cursor, {
        type: "parse_exception",
        reason: `Unknown parameter in Include/Exclude clause: ${member}`,
      });
    }
    read.set(member, partitionNumber(one, cursor));
  }
  const [partition, count] = [read.get("partition"), read.get("num_partitions")];
  const cursor = { path, what: "end" as const };
  const refuse = (reason: string) => failedAt(cursor, { type: "illegal_argument_exception", reason });
  if (partition === undefined) throw refuse("Missing [partition] parameter for partition-based include");
  if (count === undefined) throw refuse("Missing [num_partitions] parameter for partition-based include");
  if (partition < 0 || partition >= count) {
    throw refuse(`Partition must be >=0 and < numPartition which is ${count}`);
  }
  return Object.fromEntries(read);
}

function partitionNumber(value: unknown, cursor: { path: Place["path"]; what: "value" }): number {
  try {
    return Math.trunc(javaDouble(textOf(value)));
  } catch (error) {
    throw error instanceof VendorError ? failedAt(cursor, error.cause) : error;
  }
}

export function readIncludeExclude(
  naming: Naming,
  options: Options,
  values: Values,
): KeyCondition | undefined {
  const include = options.any("include");
  const exclude = options.any("exclude");
  if (values.kind !== "keyword" && (typeof include === "string" || typeof exclude === "string")) {
    const instead =
      values.kind === "ip"
        ? "an array of values for include/exclude clauses"
        : "an array of numeric values for include/exclude clauses used to filter numeric fields";
    throw argumentError(
      `Aggregation [${naming.name}] cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use ${instead}`,
    );
  }
  const conditions: KeyCondition[] = [];
  if (include !== undefined) conditions.push(readCondition("include", include, values));
  if (exclude !== undefined) {
    const excluded = readCondition("exclude", exclude, values);
    conditions.push((key) => sql`NOT ${excluded(key)}`);
  }
  if (conditions.length === 0) return undefined;
  return (key) =>
    joined(
      conditions.map((condition) => condition(key)),
      " AND ",
    );
}

function readCondition(member: string, value: unknown, values: Values): KeyCondition {
  if (typeof value === "string") {
    const pattern = luceneToRe2(value);
    return (key) => sql`regexp_full_match(${key}, ${pattern}, 's')`;
  }
  if (isRecord(value)) return partition(Number(value.partition), Number(value.num_partitions));
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (items.length > MAX_TERMS) {
    throw argumentError(
      `[${member}] has ${items.length} values, more than the allowed maximum of [${MAX_TERMS}]`,
    );
  }
  // As in the vendor, an empty list selects no texts, but all numbers.
  if (items.length === 0)
    return () => (values.kind === "keyword" || member === "exclude" ? sql`FALSE` : sql`TRUE`);
  // Sorted as text, like the vendor, so that the same invalid key is reported first.
  const texts = items.map((one) => ({ one, text: textOf(one) }));
  const wanted = texts
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ one }) => keyLiteral(values, one));
  return (key) => sql`(${key} IN (${joined(wanted, ", ")}))`;
}

/** Converts a value of the request to a key. */
export function keyLiteral(values: Values, value: unknown): Sql {
  if (values.kind === "keyword") return sql`${textOf(value)}`;
  if (values.kind === "ip") return addressLiteral(value);
  if (typeof value === "bigint") return sql`CAST(${value} AS BIGINT)`;
  const number = values.read(value);
  return Number.isInteger(number) && values.kind !== "double"
    ? sql`CAST(${BigInt(number)} AS BIGINT)`
    : sql`CAST(${number} AS DOUBLE)`;
}

/** Selects the keys of one partition by a stable hash. */
function partition(wanted: number, count: number): KeyCondition {
  return (key) =>
    sql`(md5_number_lower(CAST(${key} AS VARCHAR)) % CAST(${BigInt(count)} AS UBIGINT) = CAST(${BigInt(wanted)} AS UBIGINT))`;
}
