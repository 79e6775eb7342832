/** Events of a data model's object, with the object's names for their fields. */

import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import type { Typed } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import { withImplicitSearch } from "../syntax/text.ts";

/**
 * @param command for error messages
 * @param name `Model.Object`, or `Model` for its root
 * @throws SplError of phase `run`
 */
export async function dataModelRelation(
  command: string,
  name: string,
  context: SearchContext,
): Promise<Relation> {
  const [model = "", ...rest] = name.split(".");
  const objects = context.knowledge.dataModel(model);
  if (objects.length === 0) throw commandError(command, `Data model '${model}' was not found.`, "run");
  const wanted = rest.join(".");
  const object = wanted === "" ? objects[0] : objects.find((one) => one.object === wanted);
  if (object === undefined) {
    throw commandError(command, `Data model '${model}' has no object named '${wanted}'.`, "run");
  }
  const constraint = object.constraint.trim();
  const events = await context.subrelation(
    context.parse(constraint === "" ? "search *" : withImplicitSearch(constraint)),
  );
  const named = Object.entries(object.fields).flatMap(([field, source]): [string, Typed][] => {
    const column = columnOf(events, source);
    return column === undefined || field === source ? [] : [[field, fieldValue(column)]];
  });
  return extend(events, new Map(named));
}
