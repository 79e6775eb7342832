/** `head`: the first rows, or those before the first for which an expression is false. */
import { sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { compileCondition } from "../eval/compile-expression.ts";
import { filter, limited, numbered } from "../relation.ts";
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
    if (expression === undefined) return limited(input, limit ?? 10);
    const rows = numbered(input);
    const condition = await compileCondition(expression, rows, context);
    const ends = sql`NOT coalesce(${condition}, ${keepNull})`;
    const before = sql`SELECT min("#order0") FROM (${rows.select}) AS r WHERE ${ends}`;
    const last = keepLast ? sql`<=` : sql`<`;
    const kept = filter(rows, sql`coalesce("#order0" ${last} (${before}), true)`);
    return limit === undefined ? kept : limited(kept, limit);
  },
});

const optionTypes = { limit: count, null: boolean, keeplast: boolean };

function readExpression(reader: ArgumentReader) {
  const { type, text } = reader.peek();
  if (type === "end" || (type === "word" && /^\d+$/.test(text))) return undefined;
  return reader.expression();
}
