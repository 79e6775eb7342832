/** Values of SPL as SQL expressions. A field holds a text or a number; an expression can be a boolean, too. */
import { raw, Sql, sql } from "@offhook/log-store/sql";

/**
 * An SQL expression and its type.
 * - `text`: VARCHAR. What looks like a number behaves as one where a number is needed.
 * - `number`: any of DuckDB's numeric types. A DOUBLE is never infinite or NaN unless SPL's rules make it so.
 * - `boolean`: BOOLEAN, NULL when unknown. No field holds one.
 * A multi-value (`multi`) is a LIST of that type; a missing one is NULL, never an empty list.
 */
export interface Typed {
  readonly type: "text" | "number" | "boolean";
  readonly multi: boolean;
  readonly sql: Sql;
  /** How a single number is written where that is not its shortest form: `2.40`. VARCHAR; NULL elsewhere. */
  readonly displayText?: Sql;
  /** Single integers as the store keeps them: they can be summed exactly, without compensation. */
  readonly integer?: true;
  /** Equal to `sql` if that is known to be never NULL. A changed `sql` no longer equals it, which drops the knowledge. */
  readonly nonNull?: Sql;
}

export const nullValue: Typed = { type: "text", multi: false, sql: raw("CAST(NULL AS VARCHAR)") };

/** A value as text: integers without a fraction, other numbers in their shortest form, `True` and `False`; NULL stays. */
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

/** A value as a number: NULL if it is none, or a multi-value of more than one value. */
export function numberOf({ type, multi, sql: value }: Typed): Sql {
  const one = multi ? bindOnce(value, (list) => sql`CASE WHEN len(${list}) = 1 THEN ${list}[1] END`) : value;
  if (type === "number") return one;
  if (type === "boolean") return sql`CAST(NULL AS DOUBLE)`;
  // DuckDB's cast also accepts `1_000`, `inf` and `nan`; SPL does not.
  if (one.text.length <= MAX_REPEATED_CHARACTERS) {
    const double = sql`TRY_CAST(${one} AS DOUBLE)`;
    return sql`CASE WHEN isfinite(${double}) AND NOT contains(${one}, '_') THEN ${double} END`;
  }
  return sql`TRY_CAST(translate(${one}, '_iInN', '#####') AS DOUBLE)`;
}

/** Whether a literal of a search is a number. */
export function isNumeral(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim());
}

/** A value as a LIST: a single value becomes a list of one, NULL stays. */
export function listOf({ multi, sql: value }: Typed): Sql {
  return multi ? value : bindOnce(value, (one) => sql`CASE WHEN ${one} IS NOT NULL THEN [${one}] END`);
}

/** Widens a value's type: number to text, single value to a list of one. */
export function widen(value: Typed, { type, multi }: { type: "text" | "number"; multi: boolean }): Sql {
  const converted = type === "text" ? textOf(value) : value.sql;
  return multi && !value.multi ? sql`CASE WHEN ${converted} IS NOT NULL THEN [${converted}] END` : converted;
}

/** Longest SQL that is repeated: a name or a bound value. */
const MAX_REPEATED_CHARACTERS = 80;

/**
 * Builds an expression that uses a value more than once. Long SQL is bound to a name and computed once; repeated, nested
 * expressions would double with each level.
 */
export function bindOnce(value: Sql, body: (value: Sql) => Sql): Sql {
  if (value.text.length <= MAX_REPEATED_CHARACTERS) return body(value);
  const name = lambdaParameter();
  return sql`list_transform([${value}], lambda ${name}: ${body(name)})[1]`;
}

/** Maps each value of a list. */
export function mapList(list: Sql, body: (value: Sql) => Sql): Sql {
  const name = lambdaParameter();
  return sql`list_transform(${list}, lambda ${name}: ${body(name)})`;
}

let lambdaParameters = 0;

/** A fresh name for the parameter of a lambda. No column of the store has it, and nested lambdas have different ones. */
export function lambdaParameter(): Sql {
  lambdaParameters = (lambdaParameters + 1) % 1_000_000;
  return raw(`".v${lambdaParameters}"`);
}

/** Numbers the lambda parameters of a statement from 0, so that a repeated search has the same text. */
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
