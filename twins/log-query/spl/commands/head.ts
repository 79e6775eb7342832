/** `head`: the first rows, or those before the first for which an expression is false. */
import { raw, sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { filter, limited, numbered } from "../relation.ts";
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
    const first = limit === undefined ? input : limited(input, limit);
    if (expression === undefined) return first;
    const rows = numbered(first);
    const { type, isNull, sql: value } = await compileExpression(expression, rows, context, "'head' command");
    if (type !== "boolean" && !isNull) {
      throw commandError("head", "The expression has to give a Boolean result.", "run");
    }
    const goesOn = sql`coalesce(${isNull ? raw("NULL") : value}, CAST(${keepNull} AS BOOLEAN))`;
    const end = sql`SELECT min("#order0") FROM (${rows.select}) AS r WHERE NOT ${goesOn}`;
    const before = keepLast ? raw("<=") : raw("<");
    return filter(rows, sql`coalesce("#order0" ${before} (${end}), TRUE)`);
  },
});

const optionTypes = { limit: count, null: boolean, keeplast: boolean };

function readExpression(reader: ArgumentReader) {
  const { type, text } = reader.peek();
  if (type === "end" || (type === "word" && /^\d+$/.test(text))) return undefined;
  return reader.expression();
}
