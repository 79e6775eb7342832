/** `include` and `exclude` of a terms aggregation. */
import { joined, type Sql, sql } from "../../datasets/sql.ts";
import { textOf, tokenOf } from "../json/token.ts";
import { luceneToRe2 } from "../query/compile/regexp.ts";
import { argumentError, optionError } from "./errors.ts";
import { isRecord, type Options } from "./options.ts";
import type { Values } from "./values.ts";

const MAX_TERMS = 65_536;
/** `index.max_regex_length` */
const MAX_REGEXP = 1_000;

type KeyCondition = (key: Sql) => Sql;

export function readIncludeExclude(options: Options, values: Values): KeyCondition | undefined {
  const include = options.any("include");
  const exclude = options.any("exclude");
  if (isRecord(include) && exclude !== undefined) {
    throw argumentError("Cannot specify any excludes when using a partition-based include");
  }
  const conditions: KeyCondition[] = [];
  if (include !== undefined) conditions.push(readCondition("include", include, options.type, values));
  if (exclude !== undefined) {
    const excluded = readCondition("exclude", exclude, options.type, values);
    conditions.push((key) => sql`NOT ${excluded(key)}`);
  }
  if (conditions.length === 0) return undefined;
  return (key) =>
    joined(
      conditions.map((condition) => condition(key)),
      " AND ",
    );
}

function readCondition(name: string, value: unknown, type: string, values: Values): KeyCondition {
  if (typeof value === "string") {
    if (values.kind !== "keyword") {
      throw argumentError(
        `Aggregation [${type}] cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of values for include/exclude clauses`,
      );
    }
    if (value.length > MAX_REGEXP) {
      throw argumentError(
        `The length of regex [${value.length}] used in the request has exceeded the allowed maximum of [${MAX_REGEXP}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
      );
    }
    const pattern = luceneToRe2(value, "ALL");
    return (key) => sql`regexp_full_match(${key}, ${pattern}, 's')`;
  }
  if (Array.isArray(value)) {
    if (value.length > MAX_TERMS) {
      throw argumentError(
        `[${name}] has ${value.length} values, more than the allowed maximum of [${MAX_TERMS}]`,
      );
    }
    if (value.length === 0) return () => sql`FALSE`;
    const wanted = value.map((one) => keyLiteral(values, one));
    return (key) => sql`(${key} IN (${joined(wanted, ", ")}))`;
  }
  if (isRecord(value) && name === "include") return partition(value);
  throw optionError(`[${type}] ${name} doesn't support values of type: ${tokenOf(value)}`);
}

/** A value of the request as a key. */
export function keyLiteral(values: Values, value: unknown): Sql {
  if (values.kind === "keyword") return sql`${textOf(value)}`;
  if (typeof value === "bigint") return sql`CAST(${value} AS BIGINT)`;
  const number = values.read(value, "value");
  return Number.isInteger(number) && values.kind !== "double"
    ? sql`CAST(${BigInt(number)} AS BIGINT)`
    : sql`CAST(${number} AS DOUBLE)`;
}

/** Every key is in one of so many parts, always the same. */
function partition(value: { readonly [member: string]: unknown }): KeyCondition {
  const { partition, num_partitions: count, ...unknown } = value;
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw optionError(`Unknown parameter in Include/Exclude clause: ${name}`);
  if (typeof partition !== "number" || !Number.isInteger(partition)) {
    throw argumentError("Missing [partition] parameter for partition-based include");
  }
  if (typeof count !== "number" || !Number.isInteger(count)) {
    throw argumentError("Missing [num_partitions] parameter for partition-based include");
  }
  if (partition < 0 || partition >= count) {
    throw argumentError(`Partition must be >=0 and < numPartition which is ${count}`);
  }
  return (key) =>
    sql`(md5_number_lower(CAST(${key} AS VARCHAR)) % CAST(${BigInt(count)} AS UBIGINT) = CAST(${BigInt(partition)} AS UBIGINT))`;
}
