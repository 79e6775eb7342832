/** `return`: passes values of a subsearch to the outer search. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import { limit } from "../relation/order.ts";
import type { Rows } from "../relation/rows.ts";
import { escapeQuotes } from "../search/format-rows.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { searchRow } from "./format.ts";

interface ReturnedField {
  field: string;
  /** Name in the outer search; `undefined`: only the value is returned. */
  name: string | undefined;
}

export const returns = defineCommand({
  name: "return",
  kind: "report",
  parse(reader) {
    const maxRows = /^\d{1,9}$/.test(reader.peek().text) ? reader.integer("a number of rows") : 1;
    const returned: ReturnedField[] = [];
    while (!reader.atEnd()) {
      if (!reader.symbol(",")) returned.push(readReturnedField(reader));
    }
    if (returned.length === 0) reader.fail("Usage: [count] attr, $attrval, alias=attr, ...");
    return { maxRows, returned };
  },
  async compile({ maxRows, returned }, input, context) {
    return searchRow(searchText(await context.run(limit(input, maxRows), maxRows), returned));
  },
});

/** `ip`, `src=ip` or `$ip`. */
function readReturnedField(reader: ArgumentReader): ReturnedField {
  const word = reader.field("a field to return");
  if (reader.symbol("=")) return { name: word, field: reader.field("a field to return") };
  return word.startsWith("$") ? { name: undefined, field: word.slice(1) } : { name: word, field: word };
}

/** Joins rows with OR, each in parentheses when there are several. */
function searchText({ fields, rows }: Rows, returned: readonly ReturnedField[]): string {
  const texts = rows.flatMap((row) => {
    const terms = returned.flatMap(({ field, name }) => {
      const column = fields.findIndex((known) => known.name === field);
      return formatTerms(row[column] ?? null, name);
    });
    return terms.length === 0 ? [] : [terms.join(" ")];
  });
  return texts.length > 1 ? texts.map((text) => `(${text})`).join(" OR ") : texts.join("");
}

function formatTerms(value: ResultValue, name: string | undefined): string[] {
  if (value === null) return [];
  const values = (Array.isArray(value) ? value : [value]).map(String);
  const terms = values.map((one) => (name === undefined ? one : `${name}="${escapeQuotes(one)}"`));
  return terms.length > 1 ? [`(${terms.join(" OR ")})`] : terms;
}
