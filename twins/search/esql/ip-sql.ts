/** Addresses in SQL. */
import { sql } from "../../datasets/sql.ts";
import type { Span } from "./errors.ts";
import type { Typed } from "./typed.ts";

export function ipTyped(address: bigint, at: Span): Typed {
  return {
    type: "ip",
    multi: false,
    sql: sql`CAST(${address.toString()} AS UHUGEINT)`,
    constant: undefined,
    atomic: true,
    depth: 1,
    at,
  };
}
