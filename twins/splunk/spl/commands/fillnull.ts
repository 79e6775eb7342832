/** `fillnull`: replaces missing values by a constant. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { constant, unifyTypes, type Value } from "../eval/value.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { matchingNames } from "../relation/wildcards.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { text } from "../syntax/option-types.ts";

export const fillnull = defineCommand({
  name: "fillnull",
  kind: "streaming",
  parse(reader) {
    const { names, options } = readFieldsAndOptions(reader, { value: text });
    return { names, value: options.value ?? "0" };
  },
  compile({ names, value }, input) {
    const filled = names.length === 0 ? input.columns.map(({ name }) => name) : matchingNames(input, names);
    return extend(input, new Map(filled.map((name) => [name, fillValue(input, name, value)])));
  },
});

/** The field with missing values filled. A numeric column stays numeric if the value is a number. */
function fillValue(input: Relation, name: string, value: string): Value {
  const column = columnOf(input, name);
  if (column === undefined) return constant(value);
  const isNumber = column.type === "number" && /^-?\d+(\.\d+)?$/.test(value);
  const fill = constant(isNumber ? Number(value) : value);
  const { type, multi, sql: [present, missing] = [] } = unifyTypes([fieldValue(column), fill]);
  return { type, multi, sql: sql`coalesce(${present ?? fill.sql}, ${missing ?? fill.sql})` };
}
