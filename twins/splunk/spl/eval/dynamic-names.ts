/** `eval {field}=…` and `eval total_{field}=…`: destination fields named by values. */
import { identifier, joined, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, project, type Relation } from "../relation/relation.ts";
import { SplError } from "../spl-error.ts";
import { singleText } from "./arithmetic.ts";
import { nothing, unifyTypes, type Value } from "./value.ts";

const MAX_NAMES = 1_000;
const reference = /\{([^{}]+)\}/g;

/** Whether a destination contains a field in braces. */
export function hasFieldReference(destination: string): boolean {
  return /\{[^{}]+\}/.test(destination);
}

/** Sets, in each row, the field that the row's values name. A row without such a value sets none. */
export async function assignByName(
  input: Relation,
  destination: string,
  value: Value,
  context: SearchContext,
): Promise<Relation> {
  const parts = [...destination.matchAll(reference)].map(([, name = ""]) => {
    const column = columnOf(input, name);
    return column === undefined ? nothing : fieldValue(column);
  });
  const texts = parts.map(singleText);
  const names = await distinctNames(
    input,
    parts.map((part, index) => ({ ...part, type: "text", multi: false, sql: texts[index] ?? part.sql })),
    context,
  );
  const changes = names.map((values): [string, Value] => {
    let index = 0;
    const name = destination.replace(reference, () => values[index++] ?? "");
    const before = columnOf(input, name);
    const { sql: [then, otherwise] = [], ...shape } = unifyTypes([
      value,
      before === undefined ? nothing : fieldValue(before),
    ]);
    const isNamed = joined(
      texts.map((text, position) => sql`${text} = ${values[position] ?? ""}`),
      " AND ",
    );
    return [
      name,
      {
        ...shape,
        sql: sql`CASE WHEN ${isNamed} THEN ${then ?? value.sql} ELSE ${otherwise ?? sql`NULL`} END`,
      },
    ];
  });
  return extend(input, new Map(changes));
}

async function distinctNames(
  input: Relation,
  parts: readonly Value[],
  context: SearchContext,
): Promise<string[][]> {
  const columns = parts.map((value, index) => ({ name: `name${index}`, value }));
  const named = project(input, columns);
  const items = joined(
    named.columns.map(({ column }) => identifier(column)),
    ", ",
  );
  const distinct = { ...named, order: [], select: sql`SELECT DISTINCT ${items} FROM (${named.select}) AS r` };
  const { rows } = await context.run(distinct, MAX_NAMES + 1);
  if (rows.length > MAX_NAMES) {
    throw new SplError(`Error in 'EvalCommand': The values name more than ${MAX_NAMES} fields.`, "run");
  }
  const complete = rows.filter((row) => row.every((value) => value !== null && value !== ""));
  return complete.map((row) => row.map(String)).sort((a, b) => (a.join("\0") < b.join("\0") ? -1 : 1));
}
