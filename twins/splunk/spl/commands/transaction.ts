/** `transaction`: combines related rows into one. */

import { joined, raw, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, filter, type Relation } from "../relation/relation.ts";
import { mergeByTime } from "../relation/union.ts";
import { addKeys, isPresent, type KeyedRows } from "../transactions/keyed-rows.ts";
import { readTransaction, type TransactionOptions } from "../transactions/options.ts";
import { renderTransactions } from "../transactions/render.ts";
import { type Marks, segmentRows } from "../transactions/segments.ts";
import { hasPartialKeys, walkRows } from "../transactions/walk-rows.ts";

export const transaction = defineCommand({
  name: "transaction",
  aliases: ["transam"],
  kind: "events",
  parse: readTransaction,
  async compile(options, input, context) {
    const rows = await addKeys(input, options, context);
    const transactions = renderTransactions(await markRows(rows, options, context), rows, options);
    return options.keepOrphans ? addOrphans(transactions, input, options) : transactions;
  },
});

/** Assigns rows to transactions: in SQL when their keys alone decide, else row by row in the program. */
async function markRows(
  rows: KeyedRows,
  options: TransactionOptions,
  context: SearchContext,
): Promise<Marks> {
  const bounded = options.maxOpenTransactions !== undefined || options.maxOpenEvents !== undefined;
  if (bounded || (await hasPartialKeys(rows, context))) return walkRows(rows, options, context);
  return segmentRows(rows, options, context);
}

/** Adds the rows that have none of the key fields and belong to no transaction. */
function addOrphans(transactions: Relation, input: Relation, { fields }: TransactionOptions): Relation {
  const present = fields.flatMap((name) => {
    const column = columnOf(input, name);
    return column === undefined ? [] : [isPresent(column)];
  });
  if (fields.length === 0) return transactions;
  const none = present.length === 0 ? raw("true") : sql`NOT (${joined(present, " OR ")})`;
  const mark = { type: "number", multi: false, sql: raw("1") } as const;
  return mergeByTime(transactions, extend(filter(input, none), new Map([["_txn_orphan", mark]])));
}
