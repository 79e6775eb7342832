/** `where`: filters rows by an eval expression. */
import { defineCommand } from "../command.ts";
import { compileCondition } from "../eval/compile-expression.ts";
import { filter } from "../relation/relation.ts";

export const where = defineCommand({
  name: "where",
  kind: "streaming",
  parse: (reader) => ({ condition: reader.expression() }),
  async compile({ condition }, input, context) {
    return filter(input, await compileCondition(condition, input, context));
  },
});
