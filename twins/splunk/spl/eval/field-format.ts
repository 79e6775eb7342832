/** Formats of fields (`fieldformat`): what results show in place of a value. */
import type { SearchContext } from "../context/search-context.ts";
import { type FieldFormat, outputsOf, project, type Relation } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import type { Expression } from "../syntax/ast.ts";
import { compileExpression } from "./compile-expression.ts";
import { roundToPrecision } from "./precision.ts";

/** A format that shows the value of an expression as text. */
export function fieldFormat(expression: Expression, context: SearchContext): FieldFormat {
  return {
    async compile(relation) {
      const value = roundToPrecision(
        await compileExpression(expression, relation, context, "'fieldformat' command"),
      );
      return { ...value, type: "text", sql: textOf(value) };
    },
    renameFields: (names) => fieldFormat(renameFields(expression, names), context),
  };
}

/** @param names from the old name to the new one */
function renameFields(expression: Expression, names: ReadonlyMap<string, string>): Expression {
  const rename = (operand: Expression) => renameFields(operand, names);
  switch (expression.node) {
    case "field":
      return { ...expression, name: names.get(expression.name) ?? expression.name };
    case "call":
      return { ...expression, args: expression.args.map(rename) };
    case "unary":
      return { ...expression, operand: rename(expression.operand) };
    case "binary":
      return { ...expression, left: rename(expression.left), right: rename(expression.right) };
    case "in":
      return { ...expression, operand: rename(expression.operand), values: expression.values.map(rename) };
    default:
      return expression;
  }
}

/** Replaces values by what their formats show. Only for the results of a whole search: commands and other searches read the values. */
export async function applyFormats(relation: Relation): Promise<Relation> {
  if (relation.columns.every(({ format }) => format === undefined)) return relation;
  const outputs = await Promise.all(
    outputsOf(relation).map(async ({ format, ...output }) =>
      format === undefined ? output : { ...output, value: await format.compile(relation) },
    ),
  );
  return project(relation, outputs);
}
