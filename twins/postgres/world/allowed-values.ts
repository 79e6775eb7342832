/**
 * The values that a column's CHECK constraint allows, if they are few.
 *
 * The constraint is not parsed. Its literals are candidates, and Postgres itself tests which of them pass. Some other values must fail,
 * or the constraint allows more than its literals, and there is no list.
 */

import pg from "pg";
import type { Column, Queryable, Table } from "./catalogue.ts";
import { decodeValue } from "./values.ts";

const MAX_INTEGERS = 100;
const outsiders = { text: ["", "\u{fffd}offhook"], integer: [-32_768, 32_767] };

/** @returns `undefined` when the column is not limited to a short list */
export async function allowedValues(
  client: Queryable,
  table: Table,
  column: Column,
): Promise<unknown[] | undefined> {
  for (const check of table.checks) {
    if (check.columns.length !== 1 || check.columns[0] !== column.name) continue;
    const candidates = column.value.kind === "integer" ? integersOf(check.sql) : textsOf(check.sql);
    if (candidates.inside.length === 0) continue;
    const passing = await valuesPassing(client, column, check.sql, [
      ...candidates.inside,
      ...candidates.outside,
    ]);
    if (passing.size === 0 || candidates.outside.some((value) => passing.has(value))) continue;
    return candidates.inside
      .filter((value) => passing.has(value))
      .map((text) => decodeValue(column.value, text));
  }
  return undefined;
}

interface Candidates {
  inside: string[];
  outside: string[];
}

function textsOf(sql: string): Candidates {
  return { inside: [...new Set(literals(sql).texts)], outside: outsiders.text };
}

function integersOf(sql: string): Candidates {
  const numbers = literals(sql).integers;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length === 0 || most - least >= MAX_INTEGERS) return { inside: [], outside: [] };
  const inside = Array.from({ length: most - least + 3 }, (_, i) => String(least - 1 + i));
  return { inside, outside: outsiders.integer.map(String).filter((value) => !inside.includes(value)) };
}

/** The literals of an expression as Postgres prints it: quotes doubled inside text, identifiers in double quotes. */
function literals(sql: string): { texts: string[]; integers: number[] } {
  const texts: string[] = [];
  const integers: number[] = [];
  let at = 0;
  while (at < sql.length) {
    const char = sql.charAt(at);
    if (char === "'" || char === '"') {
      let text = "";
      for (at++; at < sql.length; at++) {
        if (sql[at] === char && sql[at + 1] !== char) break;
        if (sql[at] === char) at++;
        text += sql.charAt(at);
      }
      at++;
      if (char === "'") {
        texts.push(text);
        if (text !== "" && Number.isInteger(Number(text))) integers.push(Number(text));
      }
    } else if (isWordCharacter(char)) {
      const start = at;
      while (at < sql.length && isWordCharacter(sql.charAt(at))) at++;
      const word = sql.slice(start, at);
      if (Number.isInteger(Number(word)))
        integers.push(sql[start - 1] === "-" ? -Number(word) : Number(word));
    } else at++;
  }
  return { texts, integers };
}

function isWordCharacter(char: string): boolean {
  return (
    char === "_" || char === "." || char.toLowerCase() !== char.toUpperCase() || (char >= "0" && char <= "9")
  );
}

async function valuesPassing(
  client: Queryable,
  column: Column,
  check: string,
  values: string[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ value: string }>(
    `SELECT r.value FROM
       (SELECT v.value, CASE WHEN pg_input_is_valid(v.value, $2) THEN v.value::${column.castName} END AS ${pg.escapeIdentifier(column.name)}
          FROM unnest($1::text[]) AS v(value)) AS r
      WHERE ${pg.escapeIdentifier(column.name)} IS NOT NULL AND (${check})`,
    [values, column.typeName],
  );
  return new Set(rows.map(({ value }) => value));
}
