/** `convert`: converts values to numbers, and times to text. */
import { defineCommand } from "../command.ts";
import { type Conversion, conversions, convert as convertValue } from "../eval/conversions.ts";
import type { Value } from "../eval/value.ts";
import { extend, fieldValue } from "../relation/relation.ts";
import { countWildcards, fillWildcards, matchingColumns, wildcardMatch } from "../relation/wildcards.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { text } from "../syntax/option-types.ts";

interface Step {
  conversion: Conversion | "none";
  /** May have wildcards. */
  field: string;
  as: string | undefined;
}

export const convert = defineCommand({
  name: "convert",
  kind: "streaming",
  parse(reader) {
    const options = { timeformat: text };
    let timeFormat = "%m/%d/%Y %H:%M:%S";
    const steps: Step[] = [];
    while (!reader.atEnd()) {
      timeFormat = reader.options(options).timeformat ?? timeFormat;
      if (!reader.atEnd() && !reader.symbol(",")) steps.push(readStep(reader));
    }
    if (steps.length === 0) reader.fail("The conversion specifier is invalid. It must be convert_type(key).");
    return { timeFormat, steps };
  },
  compile({ timeFormat, steps }, input, context) {
    const left = new Set(
      matchingColumns(
        input,
        steps.filter(({ conversion }) => conversion === "none").map(({ field }) => field),
      ),
    );
    const changes = new Map<string, Value>();
    for (const { conversion, field, as } of steps) {
      for (const column of matchingColumns(input, [field])) {
        const isLeft = conversion === "none";
        if (isLeft ? as === undefined : left.has(column)) continue;
        const name =
          as === undefined ? column.name : fillWildcards(as, wildcardMatch(field, column.name) ?? []);
        const value = fieldValue(column);
        changes.set(name, isLeft ? value : convertValue(value, conversion, timeFormat, context));
      }
    }
    return extend(input, changes);
  },
});

function readStep(reader: ArgumentReader): Step {
  const name = reader.text("a conversion");
  const conversion = ["none", ...conversions].find((known) => known === name.toLowerCase());
  if (!isConversion(conversion)) return reader.fail(`The conversion type '${name}' is invalid.`);
  const field = reader.parenthesized()?.replace(/^(["'])(.*)\1$/, "$2");
  if (field === undefined)
    return reader.fail("The conversion specifier is invalid. It must be convert_type(key).");
  const as = reader.keyword("as") ? reader.field() : undefined;
  if (as !== undefined && countWildcards(as) !== countWildcards(field)) {
    reader.fail("There is a wildcards mismatch between the key specifier and the rename specifier.");
  }
  return { conversion, field: field === "" ? "*" : field, as };
}

function isConversion(name: string | undefined): name is Conversion | "none" {
  return name !== undefined;
}
