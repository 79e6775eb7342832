/** Extraction of fields whose names are in the events: a first statement finds the names, which then become columns. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { type Typed, widen } from "../relation/typed.ts";

/** Most fields that one command extracts. */
const MAX_FIELDS = 1_000;

/** Values of a field that already exists: the extracted ones first, the previous ones first, or both together. */
export type Precedence = "found" | "before" | "both";

/** The names in an object of lists, each prefixed with `+` if its list has several values, else `-`. */
const namesOf = defineRowFunction("splunk.found-names", (text) => {
  if (text === null) return null;
  const found: Record<string, string[]> = JSON.parse(text);
  return JSON.stringify(
    Object.entries(found).map(([name, { length }]) => `${length > 1 ? "+" : "-"}${name}`),
  );
});

/**
 * Adds the fields found in the rows.
 * @param found over `(input.select) AS r`: the text of a JSON object with a list of texts for each field, or NULL
 */
export async function addExtractedFields(
  input: Relation,
  found: Sql,
  context: SearchContext,
  precedence: Precedence = "found",
): Promise<Relation> {
  const searched: Relation = {
    ...input,
    select: sql`SELECT *, ${found} AS "#found" FROM (${input.select}) AS r`,
  };
  const names = await findNames(searched, context);
  const multi = new Map<string, boolean>();
  for (const name of names)
    multi.set(name.slice(1), name.startsWith("+") || multi.get(name.slice(1)) === true);
  const values: Relation = {
    ...input,
    select: sql`SELECT * EXCLUDE ("#found"), CAST(CAST("#found" AS JSON) AS MAP(VARCHAR, VARCHAR[])) AS "#found" FROM (${searched.select}) AS r`,
  };
  const changes = [...multi].map(([name, many]): [string, Typed] => {
    const list = sql`"#found"[${name}]`;
    const value: Typed = { type: "text", multi: many, sql: many ? list : sql`${list}[1]` };
    return [name, mergeWithBefore(values, name, value, precedence)];
  });
  return changes.length === 0 ? input : extend(values, new Map(changes));
}

/** Merges a value with the field's previous one. */
export function mergeWithBefore(
  input: Relation,
  name: string,
  value: Typed,
  precedence: Precedence = "found",
): Typed {
  const column = columnOf(input, name);
  if (column === undefined) return value;
  const before = fieldValue(column);
  const multi = value.multi || before.multi || precedence === "both";
  const [found, had] = [widen(value, { type: "text", multi }), widen(before, { type: "text", multi })];
  switch (precedence) {
    case "found":
      return { type: "text", multi, sql: sql`coalesce(${found}, ${had})` };
    case "before":
      return { type: "text", multi, sql: sql`coalesce(${had}, ${found})` };
    case "both":
      return { type: "text", multi, sql: sql`coalesce(list_concat(${had}, ${found}), ${had}, ${found})` };
  }
}

async function findNames(searched: Relation, context: SearchContext): Promise<string[]> {
  const names = sql`unnest(CAST(CAST(${namesOf(sql`"#found"`)} AS JSON) AS VARCHAR[]))`;
  const rows = await context.run(
    {
      select: sql`SELECT DISTINCT ${names} AS name FROM (${searched.select}) AS r`,
      columns: [{ name: "name", column: "name", type: "text", multi: false }],
      order: [{ column: "name", direction: "ASC" }],
      kind: "report",
    },
    2 * MAX_FIELDS,
  );
  return rows.rows
    .map(([name]) => String(name))
    .sort((a, b) => (a.slice(1) < b.slice(1) ? -1 : 1))
    .slice(0, 2 * MAX_FIELDS);
}
