/**
 * Formats rows as a search expression that matches their values: for `format`, and in place of a subsearch.
 * Source: https://help.splunk.com/en/splunk-enterprise/search/search-manual/9.2/subsearches/change-the-format-of-subsearch-results
 */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { Rows } from "../relation/rows.ts";

export interface SearchFormat {
  /** Separates the values of a multi-value. */
  multiSeparator: string;
  rowPrefix: string;
  columnPrefix: string;
  columnSeparator: string;
  columnEnd: string;
  rowSeparator: string;
  rowEnd: string;
  /** Result for no rows. */
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

/** Fields whose values are search text already. */
const verbatimFields = new Set(["search", "query"]);

/** Formats rows without their internal fields (`_…`). */
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
      joinNonEmpty(format.columnPrefix, columns.join(` ${format.columnSeparator} `), format.columnEnd),
    );
  if (found.length === 0) return format.empty;
  return joinNonEmpty(format.rowPrefix, found.join(` ${format.rowSeparator} `), format.rowEnd);
}

/** The text that replaces a subsearch: as made by `format` or `return`, else formatted here. */
export function subsearchText(rows: Rows): string {
  const [only] = rows.fields;
  const value = rows.rows[0]?.[0];
  const isMade =
    rows.fields.length === 1 && rows.rows.length === 1 && only !== undefined && verbatimFields.has(only.name);
  return isMade && typeof value === "string" ? value : formatRows(rows);
}

/** `name="value"`; `undefined` for a missing value. */
function fieldText(name: string, value: ResultValue, multiSeparator: string): string | undefined {
  if (value === null) return undefined;
  const values = Array.isArray(value) ? value : [value];
  const texts = values.map((one) =>
    verbatimFields.has(name) ? String(one) : `${name}="${escapeQuotes(String(one))}"`,
  );
  return texts.length === 1 ? texts[0] : joinNonEmpty("(", texts.join(` ${multiSeparator} `), ")");
}

export function escapeQuotes(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}

function joinNonEmpty(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}
