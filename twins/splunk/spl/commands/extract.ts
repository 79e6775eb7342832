/** `extract`: extracts fields from key-value pairs in `_raw`. */

import { sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { defineCommand } from "../command.ts";
import { columnOf, fieldValue } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { addExtractedFields } from "../structured/extracted-fields.ts";
import { type KeyValueOptions, keyValues } from "../structured/key-values.ts";
import { boolean, count, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";

const extractPairs = defineRowFunction("splunk.extract", (input, options, firstOnly) => {
  if (input === null || options === null) return null;
  const settings: KeyValueOptions = JSON.parse(options);
  const found = [...keyValues(input, settings)].map(([name, values]) => [
    name,
    firstOnly === null ? values : values.slice(0, 1),
  ]);
  return found.length === 0 ? null : JSON.stringify(Object.fromEntries(found));
});

const optionTypes = {
  ...{ kvdelim: text, pairdelim: text, limit: count, maxchars: count, mv_add: boolean },
  ...{ clean_keys: boolean, segment: boolean, reload: boolean },
};

export const extract = defineCommand({
  name: "extract",
  aliases: ["kv"],
  kind: "streaming",
  parse(reader) {
    const options = reader.options(optionTypes);
    rejectUnserved(reader, "extract", options);
    const stanza = reader.peek().text;
    if (!reader.atEnd())
      reader.fail(`The extraction stanza '${stanza}' of transforms.conf is not served here.`);
    const { kvdelim, pairdelim, limit = 50, maxchars = 10_240, clean_keys: cleanKeys = true } = options;
    const settings: KeyValueOptions = { kvdelim, pairdelim, limit, maxchars, cleanKeys };
    return { settings, adds: options.mv_add ?? false };
  },
  async compile({ settings, adds }, input, context) {
    const column = columnOf(input, "_raw");
    if (column === undefined) return input;
    const value = textOf(fieldValue(column));
    const source = column.multi ? sql`${value}[1]` : value;
    const given = sql`CAST(${JSON.stringify(settings)} AS VARCHAR)`;
    const firstOnly = sql`CAST(${adds ? null : "first"} AS VARCHAR)`;
    return addExtractedFields(
      input,
      extractPairs(source, given, firstOnly),
      context,
      adds ? "both" : "before",
    );
  },
});
