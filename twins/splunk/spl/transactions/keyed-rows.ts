/** The rows with what decides which of them belong together. */
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
  /** The columns of `input`, and `#time`, `#start`, `#end`, `#key0…`; without rows that have none of the keys, if they must have one. */
  readonly select: Sql;
  /** The same rows with what tells them apart and orders them in place of the columns of `input`, where those can be made later. */
  readonly narrow: Sql | undefined;
  readonly input: Relation;
  /** The fields that rows have in common: those of the options that any row has. */
  readonly keys: readonly Column[];
  /** Whether every row has one of them at least. */
  readonly oneIsThere: boolean;
}

export async function keyedRows(
  input: Relation,
  { fields, startsWith, endsWith, connected, unifyEnds }: TransactionOptions,
  context: SearchContext,
): Promise<KeyedRows> {
  const keys = fields.flatMap((name) => columnOf(input, name) ?? []);
  const moment = columnOf(input, "_time");
  const items = [
    sql`coalesce(${moment === undefined ? raw("NULL") : numberOf(fieldValue(moment))}, 0) AS ${time}`,
    sql`${await matches(startsWith, input, context)} AS ${isStart}`,
    sql`${await matches(endsWith, input, context)} AS ${isEnd}`,
    ...keys.map((column, index) => sql`${textOf(fieldValue(column))} AS ${keyName(index)}`),
  ];
  const present = keys.map(isPresent);
  const all = fields.length === 0 || !(connected && unifyEnds);
  const kept = all ? raw("true") : present.length === 0 ? raw("false") : joined(present, " OR ");
  const rowsWith = (own: readonly Sql[]) =>
    sql`SELECT ${joined([...own, ...items], ", ")} FROM (${input.select}) AS r WHERE ${kept}`;
  const deferred = deferredOf(input);
  const names = [...input.order, ...passthroughItems(deferred)].map(({ column }) => identifier(column));
  return {
    select: rowsWith([raw("r.*")]),
    narrow: deferred === undefined ? undefined : rowsWith(names),
    input,
    keys,
    oneIsThere: !all,
  };
}

/** Whether a row has the field. */
export function isPresent({ column }: Column): Sql {
  return sql`${identifier(column)} IS NOT NULL`;
}

/** The newest first; what came before decides between equals. */
export function newestFirst({ input }: KeyedRows): Sql {
  const keys = orderTerms(input.order);
  return keys === undefined ? sql`${time} DESC` : sql`${time} DESC, ${keys}`;
}

async function matches(
  boundary: Boundary | undefined,
  input: Relation,
  context: SearchContext,
): Promise<Sql> {
  if (boundary === undefined) return raw("false");
  return boundary.kind === "search"
    ? searchCondition(boundary.expression, input, context)
    : compileCondition(boundary.expression, input, context, "'transaction' command");
}
