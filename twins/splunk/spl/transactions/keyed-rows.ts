/** The input of `transaction` with the columns that decide which rows belong together. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { compileCondition } from "../eval/compile-expression.ts";
import { deferredOf, passthroughItems } from "../relation/deferred-columns.ts";
import { orderTerms } from "../relation/order-keys.ts";
import { type Column, columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { numberOf, textOf } from "../relation/typed.ts";
import { searchCondition } from "../search/search-rows.ts";
import type { Boundary, TransactionOptions } from "./options.ts";

/** Hidden columns. */
export const time = identifier("#time");
export const isStart = identifier("#start");
export const isEnd = identifier("#end");
export const keyName = (index: number): Sql => identifier(`#key${index}`);

export interface KeyedRows {
  /** The columns of `input`, and `#time`, `#start`, `#end`, `#key0…`. Drops rows without any key when a key is required. */
  readonly select: Sql;
  /** The same rows with row number and order keys in place of the columns of `input`; `undefined` unless these can be deferred. */
  readonly narrow: Sql | undefined;
  readonly input: Relation;
  /** The key fields that occur in the input. */
  readonly keys: readonly Column[];
  /** Whether every row has at least one key. */
  readonly everyRowHasKey: boolean;
}

export async function addKeys(
  input: Relation,
  { fields, startsWith, endsWith, connected, unifyEnds }: TransactionOptions,
  context: SearchContext,
): Promise<KeyedRows> {
  const keys = fields.flatMap((name) => columnOf(input, name) ?? []);
  const moment = columnOf(input, "_time");
  const items = [
    sql`coalesce(${moment === undefined ? raw("NULL") : numberOf(fieldValue(moment))}, 0) AS ${time}`,
    sql`${await boundaryCondition(startsWith, input, context)} AS ${isStart}`,
    sql`${await boundaryCondition(endsWith, input, context)} AS ${isEnd}`,
    ...keys.map((column, index) => sql`${textOf(fieldValue(column))} AS ${keyName(index)}`),
  ];
  const present = keys.map(isPresent);
  const keepsAllRows = fields.length === 0 || !(connected && unifyEnds);
  const condition = keepsAllRows
    ? raw("true")
    : present.length === 0
      ? raw("false")
      : joined(present, " OR ");
  const rowsWith = (own: readonly Sql[]) =>
    sql`SELECT ${joined([...own, ...items], ", ")} FROM (${input.select}) AS r WHERE ${condition}`;
  const deferred = deferredOf(input);
  const names = [...input.order, ...passthroughItems(deferred)].map(({ column }) => identifier(column));
  return {
    select: rowsWith([raw("r.*")]),
    narrow: deferred === undefined ? undefined : rowsWith(names),
    input,
    keys,
    everyRowHasKey: !keepsAllRows,
  };
}

/** Whether a row has the field. */
export function isPresent({ column }: Column): Sql {
  return sql`${identifier(column)} IS NOT NULL`;
}

/** Sort keys: newest first, ties in input order. */
export function newestFirst({ input }: KeyedRows): Sql {
  const keys = orderTerms(input.order);
  return keys === undefined ? sql`${time} DESC` : sql`${time} DESC, ${keys}`;
}

async function boundaryCondition(
  boundary: Boundary | undefined,
  input: Relation,
  context: SearchContext,
): Promise<Sql> {
  if (boundary === undefined) return raw("false");
  return boundary.kind === "search"
    ? searchCondition(boundary.expression, input, context)
    : compileCondition(boundary.expression, input, context, "'transaction' command");
}
