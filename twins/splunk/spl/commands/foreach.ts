/** `foreach`: repeats commands for each field, each value, or each element of a JSON array. */
import { defineCommand } from "../command.ts";
import { eachElement } from "../foreach/each-element.ts";
import { eachField } from "../foreach/each-field.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { oneOf, text } from "../syntax/option-types.ts";

const optionTypes = {
  mode: oneOf("multifield", "multivalue", "json_array", "auto_collections"),
  fieldstr: text,
  matchstr: text,
  matchseg1: text,
  matchseg2: text,
  matchseg3: text,
  itemstr: text,
  iterstr: text,
};

export const foreach = defineCommand({
  name: "foreach",
  kind: "streaming",
  parse(reader) {
    const { names, options } = readFieldsAndOptions(reader, optionTypes);
    const [first] = names;
    if (first === undefined) return reader.fail("Missing a list of fields.");
    const template = reader.bracketed();
    if (template === undefined || template === "")
      return reader.fail("A subsearch is expected as the last argument.");
    const { mode = "multifield" } = options;
    if (mode === "multifield") {
      const { fieldstr = "<<FIELD>>", matchstr = "<<MATCHSTR>>" } = options;
      const {
        matchseg1 = "<<MATCHSEG1>>",
        matchseg2 = "<<MATCHSEG2>>",
        matchseg3 = "<<MATCHSEG3>>",
      } = options;
      return {
        mode,
        names,
        template,
        marks: { fieldstr, matchstr, segments: [matchseg1, matchseg2, matchseg3] },
      };
    }
    if (names.length > 1) return reader.fail(`The mode '${mode}' takes one field.`);
    const { itemstr = "<<ITEM>>", iterstr = "<<ITER>>" } = options;
    return { mode, name: first, template, marks: { itemstr, iterstr } };
  },
  compile(args, input, context) {
    return args.mode === "multifield" ? eachField(args, input, context) : eachElement(args, input, context);
  },
});
