/** What results show: fields with a format of their own (`fieldformat`) as it says. */

import type { SearchContext } from "../context/search-context.ts";
import { outputsOf, project, type Relation } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { compileExpression } from "./compile-expression.ts";
import { settled } from "./precision.ts";
import type { Value } from "./value.ts";

/** Formats are of the results of a search: its commands, and other searches that take its rows, see the values themselves. */
export async function displayed(relation: Relation, context: SearchContext): Promise<Relation> {
  if (relation.columns.every(({ display }) => display === undefined)) return relation;
  const outputs = await Promise.all(
    outputsOf(relation).map(async ({ display, ...output }) => {
      if (display === undefined) return output;
      const value = await compileExpression(display, relation, context, "'fieldformat' command");
      return { ...output, value: shown(settled(value)) };
    }),
  );
  return project(relation, outputs);
}

function shown(value: Value): Value {
  return { ...value, type: "text", sql: textOf(value) };
}
