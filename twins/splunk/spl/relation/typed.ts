/** Values of SPL as SQL. A field's value is a text or a number; an expression's can be a truth value too. */
import { raw, Sql, sql } from "@offhook/log-store/sql";

/**
 * An SQL expression and what it gives.
 * - `text`: VARCHAR. What looks like a number behaves as one where a number is needed.
 * - `number`: any of DuckDB's numeric types. A DOUBLE is never infinite or NaN unless SPL's rules make it so.
 * - `boolean`: BOOLEAN, NULL when unknown. No field holds one.
 * A multi-value (`multi`) is a LIST of that; a missing one is NULL, never an empty list.
 */
export interface Typed {
  readonly type: "text" | "number" | "boolean";
  readonly multi: boolean;
  readonly sql: Sql;
  /** How a single number is shown where that is not in the fewest digits: `2.40`. VARCHAR, NULL where it is. */
  readonly displayText?: Sql;
  /** Single whole numbers as the store keeps them: their sum is exact without care for what additions lose. */
  readonly integer?: true;
  /** The same as `sql` when that is known to be never NULL: other SQL in its place may be. */
  readonly nonNull?: Sql;
}

export const nullValue: Typed = { type: "text", multi: false, sql: raw("CAST(NULL AS VARCHAR)") };

/** As text: an integer without a fraction, other numbers in the fewest digits that give them back, `True` and `False`; NULL stays. */
export function textOf({ type, multi, sql: value, displayText: shown }: Typed): Sql {
  if (shown !== undefined) return shown;
  if (type === "text") return value;
  if (multi) return mapList(value, (one) => oneText(type, one));
  return oneText(type, value);
}

function oneText(type: "number" | "boolean", value: Sql): Sql {
  return bindOnce(value, (one) =>
    type === "boolean"
      ? sql`CASE WHEN ${one} THEN 'True' WHEN NOT ${one} THEN 'False' END`
      : sql`CASE WHEN ${one} = floor(${one}) AND abs(${one}) < 9e18 THEN CAST(CAST(${one} AS BIGINT) AS VARCHAR) ELSE CAST(${one} AS VARCHAR) END`,
  );
}

/** As a number: NULL for what is none, and for a multi-value that has more than one value. */
export function numberOf({ type, multi, sql: value }: Typed): Sql {
  const one = multi ? bindOnce(value, (list) => sql`CASE WHEN len(${list}) = 1 THEN ${list}[1] END`) : value;
  if (type === "number") return one;
  if (type === "boolean") return sql`CAST(NULL AS DOUBLE)`;
  // DuckDB would read `1_000`, `inf` and `nan` too.
  if (one.text.length <= MAX_REPEATED_CHARACTERS) {
    const double = sql`TRY_CAST(${one} AS DOUBLE)`;
    return sql`CASE WHEN isfinite(${double}) AND NOT contains(${one}, '_') THEN ${double} END`;
  }
  return sql`TRY_CAST(translate(${one}, '_iInN', '#####') AS DOUBLE)`;
}

/** Whether a text that a search has says a number. */
export function isNumeral(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim());
}

/** As a LIST of texts or numbers; a single value is a list of one, a missing one NULL. */
export function listOf({ multi, sql: value }: Typed): Sql {
  return multi ? value : bindOnce(value, (one) => sql`CASE WHEN ${one} IS NOT NULL THEN [${one}] END`);
}

/** A value as a wider type: a number as text, a single value as a list of one. */
export function widen(value: Typed, type: "text" | "number", multi: boolean): Sql {
  const converted = type === "text" ? textOf(value) : value.sql;
  return multi && !value.multi ? sql`CASE WHEN ${converted} IS NOT NULL THEN [${converted}] END` : converted;
}

/** Longer than a name or a bound value. */
const MAX_REPEATED_CHARACTERS = 80;

/**
 * An expression that needs a value more than once. A long value is computed once, under a name of its own, so that expressions in
 * expressions do not double with each.
 */
export function bindOnce(value: Sql, body: (value: Sql) => Sql): Sql {
  if (value.text.length <= MAX_REPEATED_CHARACTERS) return body(value);
  const name = lambdaParameter();
  return sql`list_transform([${value}], lambda ${name}: ${body(name)})[1]`;
}

/** Each value of a list as another. */
export function mapList(list: Sql, body: (value: Sql) => Sql): Sql {
  const name = lambdaParameter();
  return sql`list_transform(${list}, lambda ${name}: ${body(name)})`;
}

let lambdaParameters = 0;

/** A name for the parameter of a lambda. No column of the store has it, and no two lambdas within each other have the same. */
export function lambdaParameter(): Sql {
  lambdaParameters = (lambdaParameters + 1) % 1_000_000;
  return raw(`".v${lambdaParameters}"`);
}

/** The same whole statement with its lambdas' parameters numbered from 0, so that a search that comes again has the same text. */
export function renumberLambdas({ texts, values, cached }: Sql): Sql {
  const names = new Map<string, string>();
  const number = (name: string) => {
    const known = names.get(name) ?? `".v${names.size}"`;
    names.set(name, known);
    return known;
  };
  return new Sql(
    texts.map((text) => text.replace(/"\.v\d+"/g, number)),
    values,
    [],
    cached,
  );
}
