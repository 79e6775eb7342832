/** Values within an expression. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { nullValue, type Typed, widen } from "../relation/typed.ts";
import type { Precision } from "./precision.ts";

export interface Value extends Typed {
  /** Text that comes from a field: what looks like a number in it is one. Other text is a string, whatever it looks like. */
  readonly loose?: boolean;
  /** What it is in every row, when that is known before the search runs. */
  readonly constant?: string | number | boolean;
  /** It is NULL in every row. */
  readonly isNull?: boolean;
  /** How exact it is; absent when it is exact. */
  readonly precision?: Precision | undefined;
  /** Its type was there to see before the search runs: it is written in the search, or an operator makes it. */
  readonly certain?: boolean;
}

/** A field that no row has. */
export const nothing: Value = { ...nullValue, isNull: true };

/** What `null()` gives: a value of no type, which operators and most functions refuse. */
export const typedNull: Value = { ...nothing, certain: true };

/** What can be seen of its type before the search runs. */
export function certainType({ certain, isNull, type }: Value): Value["type"] | "null" | undefined {
  if (!certain) return undefined;
  return isNull ? "null" : type;
}

export function text(value: Sql, multi = false): Value {
  return { type: "text", multi, sql: value };
}

export function number(value: Sql, multi = false): Value {
  return { type: "number", multi, sql: value };
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

/** A whole number as BIGINT: beside a column of such, it can be looked for. */
function numberSql(value: number): Sql {
  return Number.isSafeInteger(value) ? sql`CAST(${BigInt(value)} AS BIGINT)` : sql`CAST(${value} AS DOUBLE)`;
}

/** The same shape for values of which one is chosen: numbers among texts become text, single values among lists become lists. */
export function alike(values: readonly Value[]): {
  type: Value["type"];
  multi: boolean;
  loose: boolean;
  sql: Sql[];
} {
  const known = values.filter(({ isNull }) => !isNull);
  const same = known.every((value) => value.type === known[0]?.type && value.displayText === undefined);
  const type = same ? (known[0]?.type ?? "text") : "text";
  const multi = known.some((value) => value.multi);
  // A number that becomes text still is one.
  const loose = type === "text" && known.some((value) => value.loose || value.type !== "text");
  return {
    type,
    multi,
    loose,
    sql: values.map((value) => {
      if (value.isNull) return raw("NULL");
      return type === "boolean" ? value.sql : widen(value, type, multi);
    }),
  };
}
