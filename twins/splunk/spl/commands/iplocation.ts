/**
 * `iplocation`: the location of an address. The twin's database has countries only; city, region and coordinates stay empty.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.4/search-commands/iplocation
 */
import { sql } from "@offhook/log-store/sql";
import { countryOfAddress, namesIn } from "../addresses/countries.ts";
import { defineCommand } from "../command.ts";
import { text, type Value } from "../eval/value.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { bindOnce, listOf, textOf } from "../relation/typed.ts";
import type { OptionType } from "../syntax/argument-reader.ts";
import { readFieldAndOptions } from "../syntax/fields-and-options.ts";
import { text as anyText, boolean } from "../syntax/option-types.ts";
import { orExisting } from "./or-existing.ts";

const FIELDS = ["City", "Country", "Region", "lat", "lon"];
const ALL_FIELDS = [...FIELDS, "Continent", "MetroCode", "Timezone"];

/** `code` is an alias of the default. */
const language: OptionType<string> = {
  expected: "language",
  read(given) {
    const name = given === "" || given.toLowerCase() === "code" ? "en" : given;
    try {
      namesIn(name);
      return name;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  },
};

export const iplocation = defineCommand({
  name: "iplocation",
  kind: "streaming",
  parse(reader) {
    const { name, options } = readFieldAndOptions(reader, {
      prefix: anyText,
      allfields: boolean,
      lang: language,
    });
    return {
      field: name,
      prefix: options.prefix ?? "",
      allFields: options.allfields ?? false,
      language: options.lang ?? "en",
    };
  },
  compile({ field, prefix, allFields, language: lang }, input) {
    const column = columnOf(input, field);
    if (column === undefined) return input;
    const given = fieldValue(column);
    const address = given.multi ? bindOnce(listOf(given), (list) => sql`${list}[1]`) : textOf(given);
    const country = countryOfAddress(
      given.multi ? sql`CAST(${address} AS VARCHAR)` : address,
      sql`CAST(${lang} AS VARCHAR)`,
    );
    const names = allFields ? ALL_FIELDS : FIELDS;
    const found = names.map((name): [string, Value] => [
      `${prefix}${name}`,
      name === "Country" ? text(country) : text(sql`CASE WHEN ${country} IS NOT NULL THEN '' END`),
    ]);
    return extend(input, new Map(found.map(([name, value]) => [name, orExisting(value, input, name)])));
  },
});
