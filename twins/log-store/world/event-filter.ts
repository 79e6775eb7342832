/** Equality filters on events, by `_id`, `_index`, … or the dotted name of a field. */
import type { Problem, Row } from "@offhook/platform/world/world";
import { columnOf, type Field, type FieldCatalog, type FieldType } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { type Coercion, coerce } from "../store/coerce.ts";

type FilterColumn = Pick<Field, "type" | "multi" | "timeFormat"> & { column: Sql };

const ownColumns = new Map<string, FilterColumn>(
  (
    [
      ["_id", "text"],
      ["_index", "text"],
      ["_version", "long"],
      ["_seq_no", "long"],
      ["_source", "text"],
    ] as const
  ).map(([name, type]) => [name, { column: identifier(name), type, multi: false }]),
);

export type FilterReading = { predicate: Sql } | { problems: Problem[] };

/** @param where values as texts of a query string, or as JSON; `null` matches a column without a value */
export function readFilter(
  table: string,
  fields: FieldCatalog,
  where: Readonly<Row>,
  form: "text" | "json",
): FilterReading {
  const problems: Problem[] = [];
  const conditions: Sql[] = [];
  for (const [name, value] of Object.entries(where)) {
    const own = ownColumns.get(name);
    const columns = own ? [own] : fields.named(name).map(filterColumn);
    if (columns.length === 0) {
      problems.push({ table, column: name, value, rule: `no such column; ${table} has ${namesOf(fields)}` });
      continue;
    }
    if (value === null) {
      conditions.push(...columns.map(({ column }) => sql`${column} IS NULL`));
      continue;
    }
    const found = columns.flatMap((column) => equality(column, value, form) ?? []);
    if (found.length > 0) conditions.push(sql`(${joined(found, " OR ")})`);
    else {
      const words = new Set(columns.map(({ type }) => valueWords[type]));
      problems.push({ table, column: name, value, rule: `must be ${[...words].join(" or ")}` });
    }
  }
  if (problems.length > 0) return { problems };
  return { predicate: conditions.length > 0 ? joined(conditions, " AND ") : raw("true") };
}

/** The values of a field in words, for problems. */
const valueWords: Record<FieldType, string> = {
  text: "text",
  keyword: "text",
  long: "an integer of 64 bits",
  unsigned_long: "an integer from 0 of 64 bits",
  double: "a number",
  boolean: "true or false",
  ip: "an address, such as 10.0.0.1 or ::1",
  date: "a time, such as 2026-01-31T09:00:00Z or milliseconds since 1970",
};

function filterColumn(field: Field): FilterColumn {
  const { type, multi, timeFormat } = field;
  return { column: columnOf(field), type, multi, timeFormat };
}

function equality(
  { column, multi, ...target }: FilterColumn,
  value: unknown,
  form: "text" | "json",
): Sql | undefined {
  const bound = boundValue(target, value, form);
  if (!bound) return undefined;
  return multi ? sql`coalesce(list_contains(${column}, ${bound}), false)` : sql`${column} = ${bound}`;
}

const integerText = /^-?\d+$/;

function boundValue(target: Coercion, value: unknown, form: "text" | "json"): Sql | undefined {
  const { type } = target;
  const kinds: Record<FieldType, readonly string[]> = {
    text: ["string"],
    keyword: ["string"],
    long: ["number"],
    unsigned_long: ["number"],
    double: ["number"],
    boolean: ["boolean"],
    date: ["string", "number"],
    ip: ["string"],
  };
  if (form === "json" && !kinds[type].includes(typeof value)) return undefined;
  const text = String(value);
  const whole = type === "long" || type === "unsigned_long";
  const isText = type === "text" || type === "keyword";
  if ((whole && !integerText.test(text)) || (!isText && text === "")) return undefined;
  const coerced = coerce({ kind: "string", text, offset: 0 }, target);
  if (!("value" in coerced) || coerced.value === undefined) return undefined;
  if (type === "date") return sql`make_timestamp(${coerced.value})`;
  return type === "unsigned_long" ? sql`CAST(${coerced.value} AS UBIGINT)` : sql`${coerced.value}`;
}

function namesOf(fields: FieldCatalog): string {
  const names = [...ownColumns.keys(), ...new Set(fields.allStored().map(({ name }) => name))];
  const shown = names.slice(0, 30).join(", ");
  return names.length > 30 ? `${shown} and ${names.length - 30} more` : shown;
}
