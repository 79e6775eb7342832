/** Candidate types of a staged column: each tests and converts values in SQL. */
import type { FieldType } from "../fields.ts";
import { raw, type Sql, sql, textLiteral } from "../sql.ts";

export interface Candidate {
  name: string;
  type: FieldType;
  /** Whether a value (not NULL) fits; NULL means no. */
  fits(value: Sql): Sql;
  /** Whether a value is a placeholder for none, which a column of this type may have. */
  isBlank?(value: Sql): Sql;
  /** The value of the column; NULL for a placeholder. */
  convert(value: Sql): Sql;
}

/** Numbers as JSON writes them: no leading zeros, no plus, no `NaN`. */
const JSON_NUMBER = "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?";

/** Significant digits that every double preserves. */
const SAFE_DIGITS = 15;

export const text: Candidate = {
  name: "text",
  type: "text",
  fits: () => raw("true"),
  convert: (value) => value,
};

export const boolean: Candidate = {
  name: "boolean",
  type: "boolean",
  fits: (value) => sql`${value} IN ('true', 'false', 'True', 'False', 'TRUE', 'FALSE')`,
  convert: (value) => sql`lower(${value}) = 'true'`,
};

/** An integer fits when it round-trips: `007` and `1e3` do not. */
export const long: Candidate = {
  name: "long",
  type: "long",
  fits: (value) => sql`CAST(TRY_CAST(${value} AS BIGINT) AS VARCHAR) = ${value}`,
  convert: (value) => sql`CAST(${value} AS BIGINT)`,
};

export const unsignedLong: Candidate = {
  name: "unsigned_long",
  type: "unsigned_long",
  fits: (value) => sql`CAST(TRY_CAST(${value} AS UBIGINT) AS VARCHAR) = ${value}`,
  convert: (value) => sql`CAST(${value} AS UBIGINT)`,
};

/** A number fits when a double preserves all its digits. */
export const double: Candidate = {
  name: "double",
  type: "double",
  fits: (value) => {
    const number = sql`TRY_CAST(${value} AS DOUBLE)`;
    const digits = sql`ltrim(regexp_replace(regexp_replace(${value}, '[eE].*$', ''), '[-.]', '', 'g'), '0')`;
    const inRange = sql`isfinite(${number}) AND (abs(${number}) > 1e-300 OR ${digits} = '')`;
    return sql`regexp_full_match(${value}, ${textLiteral(JSON_NUMBER)}) AND ${inRange}
      AND (strlen(${value}) <= ${raw(String(SAFE_DIGITS))} OR CAST(${number} AS VARCHAR) = ${value}
           OR strlen(${digits}) <= ${raw(String(SAFE_DIGITS))})`;
  },
  convert: (value) => sql`CAST(${value} AS DOUBLE)`,
};
