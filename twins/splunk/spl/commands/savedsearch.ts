/** `savedsearch`: runs a saved search with its `$name$` placeholders replaced. */
import { defineCommand } from "../command.ts";
import { savedSearchRelation } from "../sources/saved-search.ts";
import { commandError } from "../spl-error.ts";
import { boolean } from "../syntax/option-types.ts";

export const savedsearch = defineCommand({
  name: "savedsearch",
  aliases: ["macro", "savedsplunk"],
  kind: "generating",
  parse(reader) {
    const name = reader.text("the name of a saved search");
    const values = new Map<string, string>();
    let nosubstitution = false;
    while (!reader.atEnd()) {
      const options = reader.options({ nosubstitution: boolean });
      if (options.nosubstitution !== undefined) {
        nosubstitution = options.nosubstitution;
        continue;
      }
      const key = reader.text("the name of a replacement");
      if (!reader.symbol("=")) reader.fail(`Invalid argument: '${key}'`);
      values.set(key, reader.text(`the value of '${key}'`));
    }
    return { name, values, nosubstitution };
  },
  compile({ name, values, nosubstitution }, _input, context) {
    if (nosubstitution) return savedSearchRelation("savedsearch", name, context);
    return savedSearchRelation("savedsearch", name, context, (search) => substitute(search, name, values));
  },
});

/** Replaces placeholders; `$$` becomes a dollar sign. */
function substitute(search: string, name: string, values: ReadonlyMap<string, string>): string {
  return search.replace(/\$\$|\$([A-Za-z0-9_.-]+)\$/g, (_, key: string | undefined) => {
    if (key === undefined) return "$";
    const value = values.get(key);
    if (value !== undefined) return value;
    throw commandError(
      "savedsearch",
      `Encountered the following error while building a search for saved search '${name}': Error while replacing variable name='${key}'. Could not find variable in the argument map.`,
      "run",
    );
  });
}
