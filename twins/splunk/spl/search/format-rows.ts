/**
 * Rows as the text of a search that finds their like: what `format` makes, and what takes a subsearch's place.
 * Source: https://help.splunk.com/en/splunk-enterprise/search/search-manual/9.2/subsearches/change-the-format-of-subsearch-results
 */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { Rows } from "../relation/rows.ts";

export interface SearchFormat {
  /** Between the values of a multi-value. */
  multiSeparator: string;
  rowPrefix: string;
  columnPrefix: string;
  columnSeparator: string;
  columnEnd: string;
  rowSeparator: string;
  rowEnd: string;
  /** When there is no row. */
  empty: string;
}

export const defaultFormat: SearchFormat = {
  multiSeparator: "OR",
  rowPrefix: "(",
  columnPrefix: "(",
  columnSeparator: "AND",
  columnEnd: ")",
  rowSeparator: "OR",
  rowEnd: ")",
  empty: "NOT ( )",
};

/** Fields whose values are text of a search themselves. */
const verbatim = new Set(["search", "query"]);

/** Fields that begin with `_` are left out. */
export function formatRows({ fields, rows }: Rows, format: SearchFormat = defaultFormat): string {
  const found = rows
    .map((row) =>
      fields.flatMap(({ name }, index): string[] => {
        const text = fieldText(name, row[index] ?? null, format.multiSeparator);
        return name.startsWith("_") || text === undefined ? [] : [text];
      }),
    )
    .filter((columns) => columns.length > 0)
    .map((columns) =>
      spaced(format.columnPrefix, columns.join(` ${format.columnSeparator} `), format.columnEnd),
    );
  if (found.length === 0) return format.empty;
  return spaced(format.rowPrefix, found.join(` ${format.rowSeparator} `), format.rowEnd);
}

/** The text of a subsearch's result: the one that `format` or `return` has made, else what `format` would make. */
export function splicedText(rows: Rows): string {
  const [only] = rows.fields;
  const value = rows.rows[0]?.[0];
  const isMade =
    rows.fields.length === 1 && rows.rows.length === 1 && only !== undefined && verbatim.has(only.name);
  return isMade && typeof value === "string" ? value : formatRows(rows);
}

/** `name="value"`; `undefined` for a missing value. */
function fieldText(name: string, value: ResultValue, multiSeparator: string): string | undefined {
  if (value === null) return undefined;
  const values = Array.isArray(value) ? value : [value];
  const texts = values.map((one) => (verbatim.has(name) ? String(one) : `${name}="${escaped(String(one))}"`));
  return texts.length === 1 ? texts[0] : spaced("(", texts.join(` ${multiSeparator} `), ")");
}

export function escaped(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}

function spaced(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}
