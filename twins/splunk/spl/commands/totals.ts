/** Totals of rows and columns, for `addtotals` and `addcoltotals`. */
import { identifier, joined, type Sql, sql } from "@offhook/log-store/sql";
import { type Column, extend, fieldValue, type Output, type Relation, select } from "../relation/relation.ts";
import { numberOf, type Typed } from "../relation/typed.ts";
import { concat } from "../relation/union.ts";
import { matchingColumns } from "../relation/wildcards.ts";

/** The columns to add up. @param names patterns of fields; default: all */
export function totalColumns(input: Relation, names: readonly string[]): Column[] {
  return matchingColumns(input, names.length === 0 ? ["*"] : names);
}

function numberIn(column: Column): Sql {
  return sql`CAST(${numberOf(fieldValue(column))} AS DOUBLE)`;
}

/** Adds a field with the sum of each row's numbers. */
export function withRowTotals(input: Relation, columns: readonly Column[], field: string): Relation {
  const numbers = columns.map((column) => sql`coalesce(${numberIn(column)}, 0)`);
  const sum = numbers.length === 0 ? sql`CAST(0 AS DOUBLE)` : joined(numbers, " + ");
  return extend(input, new Map([[field, { type: "number", multi: false, sql: sql`(${sum})` }]]));
}

/** Appends a row with the sums of the columns. @param label a field that names this row, and its text */
export function withColumnTotals(
  input: Relation,
  columns: readonly Column[],
  label: { field: string; text: string } | undefined,
): Relation {
  const sums = columns.map((column, index) => sql`sum(${numberIn(column)}) AS ${place(index)}`);
  const from = sql`SELECT ${joined([sql`0 AS "#order0"`, ...sums], ", ")} FROM (${input.select}) AS r HAVING count(*) > 0`;
  const outputs = columns.flatMap(({ name }, index): Output[] => {
    const value: Typed = { type: "number", multi: false, sql: place(index) };
    return name === label?.field ? [] : [{ name, value }];
  });
  if (label !== undefined) {
    outputs.push({
      name: label.field,
      value: { type: "text", multi: false, sql: sql`CAST(${label.text} AS VARCHAR)` },
    });
  }
  return concat(input, select(from, outputs, [{ column: "#order0", direction: "ASC" }], "report"));
}

function place(index: number): Sql {
  return identifier(`#sum${index}`);
}
