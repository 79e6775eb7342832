/** Fields and options in any order: `makemv delim="," a` and `makemv a delim=","`. */
import type { ArgumentReader, OptionTypes, OptionValues } from "./argument-reader.ts";

/** Reads fields and options up to the first token that is neither. */
export function readFieldsAndOptions<Types extends OptionTypes>(
  reader: ArgumentReader,
  types: Types,
  stopWords: readonly string[] = [],
): { names: string[]; options: OptionValues<Types> } {
  const names: string[] = [];
  const options: OptionValues<Types> = {};
  for (let at = -1; at !== reader.offset(); ) {
    at = reader.offset();
    Object.assign(options, reader.options(types));
    names.push(...reader.fields(stopWords));
  }
  return { names, options };
}

/** Like `readFieldsAndOptions`, for commands that take one field. */
export function readFieldAndOptions<Types extends OptionTypes>(
  reader: ArgumentReader,
  types: Types,
): { name: string; options: OptionValues<Types> } {
  const { names, options } = readFieldsAndOptions(reader, types);
  const [name, ...more] = names;
  if (name === undefined) reader.fail("A field name is expected.");
  if (more.length > 0) reader.fail(`Invalid argument: '${more.join(" ")}'`);
  return { name, options };
}
