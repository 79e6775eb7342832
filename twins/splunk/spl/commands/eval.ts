/** `eval`: sets fields to expressions, one after the other. */
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { assignByName, hasFieldReference } from "../eval/dynamic-names.ts";
import { fieldsOf } from "../eval/fields-of.ts";
import { toFieldValue as shownAs } from "../eval/precision.ts";
import type { Value } from "../eval/value.ts";
import { materializeIfDeep } from "../relation/materialize.ts";
import { extend, type Relation } from "../relation/relation.ts";
import { SplError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import type { Expression } from "../syntax/ast.ts";

/** `field = expression` */
export interface Assignment {
  field: string;
  expression: Expression;
}

export const evaluate = defineCommand({
  name: "eval",
  kind: "streaming",
  parse(reader) {
    return { assignments: readAssignments(reader) };
  },
  compile: ({ assignments }, input, context) => assign(input, assignments, context),
});

/** Reads assignments separated by commas. */
export function readAssignments(reader: ArgumentReader): Assignment[] {
  const assignments = [readAssignment(reader)];
  while (reader.symbol(",")) assignments.push(readAssignment(reader));
  return assignments;
}

/** Applies assignments in order. */
export async function assign(
  input: Relation,
  assignments: readonly Assignment[],
  context: SearchContext,
): Promise<Relation> {
  let relation = input;
  for (const group of groupIndependent(assignments)) {
    relation = await materializeIfDeep(await assignGroup(relation, group, context), context);
  }
  return relation;
}

/** `field = expression` */
export function readAssignment(reader: ArgumentReader): Assignment {
  const field = reader.field("a destination field");
  if (!reader.symbol("="))
    reader.fail("Failed to parse the provided arguments. Usage: eval dest_key = expression.");
  return { field, expression: reader.expression() };
}

/** Groups assignments that do not depend on each other: each group becomes one SELECT. */
function groupIndependent(assignments: readonly Assignment[]): Assignment[][] {
  const groups: Assignment[][] = [];
  let names = new Set<string>();
  for (const assignment of assignments) {
    const group = groups.at(-1);
    const reads = fieldsOf(assignment.expression);
    const startsGroup =
      hasFieldReference(assignment.field) ||
      names.has(assignment.field) ||
      [...reads].some((name) => names.has(name));
    if (group === undefined || startsGroup) {
      groups.push([assignment]);
      names = new Set();
    } else {
      group.push(assignment);
    }
    names.add(assignment.field);
    if (hasFieldReference(assignment.field)) groups.push([]);
  }
  return groups.filter((group) => group.length > 0);
}

async function assignGroup(
  input: Relation,
  group: readonly Assignment[],
  context: SearchContext,
): Promise<Relation> {
  const [first] = group;
  if (first && hasFieldReference(first.field)) {
    return assignByName(
      input,
      first.field,
      shownAs(await compileAssigned(first.expression, input, context)),
      context,
    );
  }
  const changes = new Map<string, Value | undefined>();
  for (const { field, expression } of group) {
    const computed = await compileAssigned(expression, input, context);
    // `_time` keeps its full precision.
    const value = field === "_time" ? computed : shownAs(computed);
    changes.set(field, value.isNull ? undefined : value);
  }
  return extend(input, changes);
}

async function compileAssigned(
  expression: Expression,
  input: Relation,
  context: SearchContext,
): Promise<Value> {
  const value = await compileExpression(expression, input, context);
  if (value.type === "boolean" && !value.isNull) {
    throw new SplError(
      "Error in 'EvalCommand': Fields cannot be assigned a boolean result. Instead, try if([bool expr], [expr], [expr]).",
      "run",
    );
  }
  return value;
}
