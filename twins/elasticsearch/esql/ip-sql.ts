/** IP addresses in SQL: 128 bits, as UHUGEINT. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Span } from "./errors.ts";
import type { Typed } from "./typed.ts";

export function addressSql(address: bigint): Sql {
  return sql`CAST(${address.toString()} AS UHUGEINT)`;
}

export function ipTyped(address: bigint, at: Span): Typed {
  return {
    type: "ip",
    multi: false,
    sql: addressSql(address),
    constant: undefined,
    atomic: true,
    depth: 1,
    at,
  };
}

const OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const V4 = `^${OCTET}([.]${OCTET}){3}$`;
const GROUP = "[0-9a-fA-F]{1,4}";
const V6 = `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}(?::${GROUP}){0,6})?::(?:${GROUP}(?::${GROUP}){0,6})?)$`;

/** Parses an address; the statement fails for other texts. */
export function ipFromTextSql(text: Sql): Sql {
  const v4 = sql`list_reduce(list_prepend(CAST(65535 AS UHUGEINT), list_transform(string_split(${text}, '.'), lambda p: CAST(p AS UHUGEINT))), lambda a, b: a * 256 + b)`;
  const side = (index: number) =>
    sql`list_filter(string_split(split_part(${text}, '::', ${raw(String(index))}), ':'), lambda p: p <> '')`;
  const gap = sql`list_transform(range(8 - len(${side(1)}) - len(${side(2)})), lambda p: '0')`;
  const groups = sql`CASE WHEN contains(${text}, '::') THEN list_concat(list_concat(${side(1)}, ${gap}), ${side(2)}) ELSE string_split(${text}, ':') END`;
  const v6 = sql`list_reduce(list_transform(${groups}, lambda p: CAST(CAST('0x' || p AS INTEGER) AS UHUGEINT)), lambda a, b: a * 65536 + b)`;
  return sql`CASE WHEN regexp_matches(${text}, ${V4}) THEN ${v4} WHEN regexp_matches(${text}, ${V6}) AND len(${groups}) = 8 THEN ${v6} ELSE CAST('x' AS UHUGEINT) END`;
}

/** The address of a column's digits (`ipDigits`). */
export function ipFromDigitsSql(digits: Sql): Sql {
  const half = (from: number) =>
    sql`CAST(CAST('0x' || substring(${digits}, ${raw(String(from))}, 16) AS UBIGINT) AS UHUGEINT)`;
  return sql`((${half(1)} << 64) | ${half(17)})`;
}

export function ipToTextSql(ip: Sql): Sql {
  const octet = (shift: number) =>
    sql`CAST((${ip} >> ${raw(String(shift))}) & CAST(255 AS UHUGEINT) AS VARCHAR)`;
  const v4 = sql`${octet(24)} || '.' || ${octet(16)} || '.' || ${octet(8)} || '.' || ${octet(0)}`;
  const groups = sql`':' || array_to_string(list_transform([112, 96, 80, 64, 48, 32, 16, 0], lambda s: printf('%x', CAST((${ip} >> CAST(s AS UHUGEINT)) & CAST(65535 AS UHUGEINT) AS INTEGER))), ':') || ':'`;
  // `::` replaces the longest run of zeros.
  const shortened = [8, 7, 6, 5, 4, 3, 2].reduceRight<Sql>((otherwise, length) => {
    const run = `:${"0:".repeat(length)}`;
    return sql`CASE WHEN contains(${groups}, ${run}) THEN regexp_replace(${groups}, ${run}, '::') ELSE ${otherwise} END`;
  }, groups);
  const v6 = sql`regexp_replace(regexp_replace(${shortened}, '^:([0-9a-f])', '\\1'), '([0-9a-f]):$', '\\1')`;
  return sql`CASE WHEN (${ip} >> 32) = 65535 THEN ${v4} ELSE ${v6} END`;
}
