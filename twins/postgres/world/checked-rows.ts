/** Checks rows before they are written: all problems of single values that show without a write. */
import { type Problem, type Row, type Tables, unknownTable } from "@offhook/platform/world/world";
import { type Catalogue, type Column, isRequired, type Queryable, type Table } from "./catalogue.ts";
import { encodeValue } from "./values.ts";

/** A row as texts, one per column that it brings. */
export interface TextRow {
  table: Table;
  /** Position in the array of the body. */
  index: number;
  texts: Map<Column, string | null>;
}

export interface CheckedRows {
  rows: TextRow[];
  problems: Problem[];
}

/** A text that only Postgres can check; all are checked by one query in the end. */
interface Unchecked {
  text: string;
  typeName: string;
  problem: Omit<Problem, "rule">;
}

export async function checkRows(client: Queryable, catalogue: Catalogue, data: Tables): Promise<CheckedRows> {
  const rows: TextRow[] = [];
  const problems: Problem[] = [];
  const unchecked: Unchecked[] = [];
  for (const [name, given] of Object.entries(data)) {
    const table = catalogue.tables.get(name);
    if (!table) {
      problems.push(unknownTable(name, catalogue.tables.keys()));
      continue;
    }
    for (const [index, row] of given.entries()) {
      const checked = checkColumns(table, index, row, unchecked);
      rows.push({ table, index, texts: checked.texts });
      problems.push(...checked.problems, ...missingColumns(table, index, row));
    }
  }
  for (const problem of await checkTexts(client, unchecked)) problems.push(problem);
  return { rows, problems };
}

/** Checks the columns of a change or a condition; missing ones are no problem. */
export async function checkValues(
  client: Queryable,
  table: Table,
  row: Row,
): Promise<{ texts: Map<Column, string | null>; problems: Problem[] }> {
  const unchecked: Unchecked[] = [];
  const { texts, problems } = checkColumns(table, undefined, row, unchecked);
  return { texts, problems: [...problems, ...(await checkTexts(client, unchecked))] };
}

export function unknownColumn(table: Table, column: string): Problem {
  const known = table.columns.map(({ name }) => name).join(", ");
  return { table: table.name, column, rule: `there is no such column; the columns are ${known}` };
}

function checkColumns(
  table: Table,
  index: number | undefined,
  row: Row,
  unchecked: Unchecked[],
): { texts: Map<Column, string | null>; problems: Problem[] } {
  const texts = new Map<Column, string | null>();
  const problems: Problem[] = [];
  const position = index === undefined ? {} : { row: index };
  for (const [name, value] of Object.entries(row)) {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (!column) {
      problems.push({ ...unknownColumn(table, name), ...position, value });
      continue;
    }
    const problem = { table: table.name, ...position, column: name, value };
    const encoded = encodeValue(column.value, value);
    if (column.generated)
      problems.push({ ...problem, rule: "is computed by the database and cannot be written" });
    else if ("expected" in encoded) problems.push({ ...problem, rule: `expected ${encoded.expected}` });
    else {
      texts.set(column, encoded.text);
      if (encoded.text === null && column.notNull) problems.push({ ...problem, rule: "must not be null" });
      if (encoded.text !== null && column.typeName !== "text") {
        unchecked.push({ text: encoded.text, typeName: column.typeName, problem });
      }
    }
  }
  return { texts, problems };
}

function missingColumns(table: Table, index: number, row: Row): Problem[] {
  return table.columns
    .filter((column) => isRequired(column) && !Object.hasOwn(row, column.name))
    .map(({ name }) => ({ table: table.name, row: index, column: name, rule: "is required" }));
}

async function checkTexts(client: Queryable, unchecked: Unchecked[]): Promise<Problem[]> {
  if (unchecked.length === 0) return [];
  const { rows } = await client.query<{ position: number; message: string }>(
    `SELECT d.position::int AS position, e.message
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS d(text, type, position),
            LATERAL pg_input_error_info(d.text, d.type) AS e
      WHERE e.message IS NOT NULL ORDER BY d.position`,
    [unchecked.map(({ text }) => text), unchecked.map(({ typeName }) => typeName)],
  );
  return rows.flatMap(({ position, message }) => {
    const found = unchecked[position - 1];
    return found ? [{ ...found.problem, rule: `expected ${found.typeName}: ${message}` }] : [];
  });
}
