/** Addresses of stored events: `_cd`. */
import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import { columnOf, extend, type Relation } from "../spl/relation/relation.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { shapesRows } from "./column-order.ts";

/** Commands after which a row's number is no longer that of its event. */
const renumbering: ReadonlySet<string> = new Set([
  ...["append", "appendpipe", "dedup", "join", "map", "multisearch", "reverse", "streamstats"],
  ...["tail", "transaction", "union"],
]);

/** The number of the event's row in the store; `undefined` when the rows have lost it. */
function rowNumber({ order, kind }: Relation, { commands }: Pick<Pipeline, "commands">): Sql | undefined {
  const last = order.at(-1);
  if (kind !== "events" || last === undefined || order.length < 2) return undefined;
  if (commands[0]?.name !== "search" || commands.some(({ name }) => renumbering.has(name))) return undefined;
  return identifier(last.column);
}

/** Adds `_cd`, splunkd's address of an event, to rows that are events. */
export function addEventAddresses(relation: Relation, pipeline: Pipeline): Relation {
  const row = rowNumber(relation, pipeline);
  if (row === undefined || columnOf(relation, "_raw") === undefined || shapesRows(pipeline)) return relation;
  const address = sql`'0:' || CAST(CAST(${row} AS BIGINT) AS VARCHAR)`;
  return extend(relation, new Map([["_cd", { type: "text", multi: false, sql: address }]]));
}
