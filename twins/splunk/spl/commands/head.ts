/** `head`: the first rows, or those before an expression turns false. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { limit as limitRows, withRowNumber } from "../relation/order.ts";
import { type OrderKey, orderByClause } from "../relation/order-keys.ts";
import { outputsOf, project, type Relation } from "../relation/relation.ts";
import { probeNewest } from "../search/probe-newest.ts";
import { commandError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean, count } from "../syntax/option-types.ts";

export const head = defineCommand({
  name: "head",
  kind: "report",
  parse(reader) {
    const before = reader.options(optionTypes);
    const expression = readExpression(reader);
    const positional = /^\d+$/.test(reader.peek().text) ? reader.integer("a number of rows") : undefined;
    const options = { ...before, ...reader.options(optionTypes) };
    const { limit = positional, null: keepNull = false, keeplast: keepLast = false } = options;
    return { limit: limit ?? (expression === undefined ? 10 : undefined), expression, keepNull, keepLast };
  },
  async compile({ limit, expression, keepNull, keepLast }, input, context) {
    const ordered = input.order.length === 0 ? withRowNumber(input) : input;
    const first =
      limit === undefined ? ordered : limitRows(await probeNewest(ordered, limit, context), limit);
    if (expression === undefined) return first;
    const {
      type,
      isNull,
      sql: value,
    } = await compileExpression(expression, first, context, "'head' command");
    if (type !== "boolean" && !isNull) {
      throw commandError("head", "The argument must be a boolean expression.", "run");
    }
    const goesOn = sql`coalesce(${isNull ? raw("NULL") : value}, CAST(${keepNull} AS BOOLEAN))`;
    return takeUntil(first, sql`NOT ${goesOn}`, keepLast ? "with it" : "without it");
  },
});

/** The rows before the first one that meets `ends`. Compares order keys, which spares numbering the rows. */
function takeUntil(input: Relation, ends: Sql, last: "with it" | "without it"): Relation {
  const keys = input.order.map(
    ({ column }, index) => sql`${identifier(column)} AS ${identifier(`#end${index}`)}`,
  );
  const end = sql`SELECT ${joined([...keys, raw(`TRUE AS "#ends"`)], ", ")} FROM (${input.select}) AS r WHERE ${ends} ${orderByClause(input.order)} LIMIT 1`;
  const isEnd = joined(
    input.order.map(
      ({ column }, index) => sql`${identifier(column)} IS NOT DISTINCT FROM ${identifier(`#end${index}`)}`,
    ),
    " AND ",
  );
  const isBefore = comesBefore(input.order);
  const condition = last === "with it" ? sql`(${isBefore} OR (${isEnd}))` : isBefore;
  const from = sql`SELECT * FROM (${input.select}) AS r LEFT JOIN (${end}) AS e ON TRUE WHERE "#ends" IS NULL OR ${condition}`;
  return project({ ...input, select: from }, outputsOf(input));
}

/** The condition that a row sorts before the row with keys `#end0`, `#end1`, … */
function comesBefore(order: readonly OrderKey[]): Sql {
  const cases = order.map((key, index) => {
    const same = order
      .slice(0, index)
      .map(
        ({ column }, place) => sql`${identifier(column)} IS NOT DISTINCT FROM ${identifier(`#end${place}`)}`,
      );
    return sql`(${joined([...same, sortsBefore(key, index)], " AND ")})`;
  });
  return sql`(${joined(cases, " OR ")})`;
}

function sortsBefore({ column, direction, nulls }: OrderKey, index: number): Sql {
  const mine = identifier(column);
  const other = identifier(`#end${index}`);
  const [earlier, later] = nulls === "first" ? [mine, other] : [other, mine];
  const less = direction === "ASC" ? raw("<") : raw(">");
  return sql`coalesce(${mine} ${less} ${other}, ${earlier} IS NULL AND ${later} IS NOT NULL)`;
}

const optionTypes = { limit: count, null: boolean, keeplast: boolean };

function readExpression(reader: ArgumentReader) {
  const { type, text } = reader.peek();
  if (type === "end" || (type === "word" && /^\d+$/.test(text))) return undefined;
  const expression = reader.expression();
  // None of these can be a boolean.
  if (["field", "string", "number"].includes(expression.node)) {
    reader.fail("The argument must be a positive number or a boolean expression.");
  }
  return expression;
}
