/** Typed expressions as SQL. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Span } from "./errors.ts";
import type { Literal, TimeSpan } from "./syntax.ts";
import { type DataType, isString, isWhole, sqlType } from "./types.ts";

/** A value known at compile time. */
export type Constant =
  | Exclude<Literal, { type: "span" }>
  | { type: "datetime"; value: number }
  | { type: "date_period" | "time_duration"; value: TimeSpan };

export interface Typed {
  type: DataType;
  /** Whether there can be several values; the SQL is then a LIST, or NULL for none. */
  multi: boolean;
  sql: Sql;
  constant: Constant | undefined;
  /** A column or a literal: repeating its SQL repeats no work. */
  atomic: boolean;
  /** Nesting depth of the SQL. */
  depth: number;
  at: Span;
}

export function literalConstant(literal: Literal): Constant {
  if (literal.type !== "span") return literal;
  return { type: literal.value.clock ? "time_duration" : "date_period", value: literal.value };
}

export function constantTyped(constant: Constant, at: Span): Typed {
  return {
    type: constant.type,
    multi: false,
    sql: constantSql(constant),
    constant,
    atomic: true,
    depth: 1,
    at,
  };
}

function constantSql(constant: Constant): Sql {
  switch (constant.type) {
    case "null":
      return raw("CAST(NULL AS VARCHAR)");
    case "integer":
    case "long":
    case "unsigned_long":
      return sql`CAST(${constant.value} AS ${sqlType(constant.type)})`;
    case "datetime":
      return sql`make_timestamp_ms(CAST(${BigInt(constant.value)} AS BIGINT))`;
    case "date_period":
    case "time_duration":
      return raw("NULL");
    default:
      return sql`${constant.value}`;
  }
}

/** Stands for an expression whose problem was reported. */
export function unknownTyped(at: Span): Typed {
  return { type: "unknown", multi: false, sql: raw("NULL"), constant: undefined, atomic: true, depth: 1, at };
}

export function nullTyped(at: Span, type: DataType = "null"): Typed {
  return {
    type,
    multi: false,
    sql: sql`CAST(NULL AS ${sqlType(type)})`,
    constant: { type: "null" },
    atomic: true,
    depth: 1,
    at,
  };
}

/** Casts an expression to a wider type. */
export function widen(value: Typed, type: DataType): Typed {
  if (value.type === type || (isString(value.type) && isString(type))) return { ...value, type };
  if (value.type === "null") return nullTyped(value.at, type);
  const { constant } = value;
  if (constant && isWhole(constant.type) && "value" in constant && typeof constant.value === "bigint") {
    if (type === "double") return constantTyped({ type, value: Number(constant.value) }, value.at);
    if (type === "long" || type === "unsigned_long")
      return constantTyped({ type, value: constant.value }, value.at);
  }
  const target = value.multi ? sql`${sqlType(type)}[]` : sqlType(type);
  return { ...value, type, sql: sql`CAST(${value.sql} AS ${target})`, depth: value.depth + 1 };
}
