/** Values of expressions: SQL, its type, and what is known of it before the search runs. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { nullValue, type Typed, widen } from "../relation/typed.ts";

/** How exact a number is; see `precision.ts`. */
export interface Precision {
  /** Whether it is exact: cheap to compute, and mostly true. */
  exact(): Sql;
  /** Significant digits. INTEGER; NULL where exact. */
  significant(): Sql;
  /** Decimal places. INTEGER; NULL where exact. */
  places(): Sql;
  /** Computed from literals alone. */
  readonly literal: boolean;
  /** The precision of a value that was not computed: it has no excess digits. */
  readonly own?: true;
}

export interface Value extends Typed {
  /** Text from a field: it counts as a number if it looks like one. Other text is always a string. */
  readonly loose?: boolean;
  /** The value of every row, if known before the search runs. */
  readonly constant?: string | number | boolean;
  /** NULL in every row. */
  readonly isNull?: boolean;
  /** Absent for exact values. */
  readonly precision?: Precision | undefined;
  /** The type is known before the search runs: the value is a literal or the result of an operator. */
  readonly certain?: boolean;
}

/** A field that no row has. */
export const nothing: Value = { ...nullValue, isNull: true };

/** The value of `null()`. It has no type: operators and most functions reject it. */
export const typedNull: Value = { ...nothing, certain: true };

/** The type, if known before the search runs. */
export function certainType({ certain, isNull, type }: Value): Value["type"] | "null" | undefined {
  if (!certain) return undefined;
  return isNull ? "null" : type;
}

export function text(value: Sql): Value {
  return { type: "text", multi: false, sql: value };
}

export function number(value: Sql): Value {
  return { type: "number", multi: false, sql: value };
}

/** Declares the SQL of a value to be a LIST. */
export function asList(value: Value): Value {
  return { ...value, multi: true };
}

export function boolean(value: Sql): Value {
  return { type: "boolean", multi: false, sql: value };
}

export function constant(value: string | number | boolean): Value {
  const certain = true;
  if (typeof value === "string") return { ...text(sql`CAST(${value} AS VARCHAR)`), constant: value, certain };
  if (typeof value === "number") return { ...number(numberSql(value)), constant: value, certain };
  return { ...boolean(raw(value ? "TRUE" : "FALSE")), constant: value, certain };
}

/** Integers as BIGINT, so that DuckDB can use the statistics of a BIGINT column. */
function numberSql(value: number): Sql {
  return Number.isSafeInteger(value) ? sql`CAST(${BigInt(value)} AS BIGINT)` : sql`CAST(${value} AS DOUBLE)`;
}

/** Gives values a common type, for expressions that choose one of them: numbers among texts become text, single values among lists become lists. */
export function unifyTypes(values: readonly Value[]): {
  type: Value["type"];
  multi: boolean;
  loose: boolean;
  sql: Sql[];
} {
  const known = values.filter(({ isNull }) => !isNull);
  const same = known.every((value) => value.type === known[0]?.type && value.displayText === undefined);
  const type = same ? (known[0]?.type ?? "text") : "text";
  const multi = known.some((value) => value.multi);
  // A number that becomes text still counts as a number.
  const loose = type === "text" && known.some((value) => value.loose || value.type !== "text");
  return {
    type,
    multi,
    loose,
    sql: values.map((value) => {
      if (value.isNull) return raw("NULL");
      return type === "boolean" ? value.sql : widen(value, { type, multi });
    }),
  };
}
