/** First look at rows that are to be written: everything that can be said of each value without writing it. */
import { type Problem, type Row, type Tables, unknownTable } from "@offhook/platform/world/world";
import { type Catalogue, type Column, isRequired, type Queryable, type Table } from "./catalogue.ts";
import { encodeValue } from "./values.ts";

/** A row as it will be sent: one text per column it brings. */
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

/** The texts that only Postgres can judge, asked in one question at the end. */
interface Doubt {
  text: string;
  typeName: string;
  problem: Omit<Problem, "rule">;
}

export async function checkRows(client: Queryable, catalogue: Catalogue, data: Tables): Promise<CheckedRows> {
  const rows: TextRow[] = [];
  const problems: Problem[] = [];
  const doubts: Doubt[] = [];
  for (const [name, given] of Object.entries(data)) {
    const table = catalogue.tables.get(name);
    if (!table) {
      problems.push(unknownTable(name, catalogue.tables.keys()));
      continue;
    }
    for (const [index, row] of given.entries()) {
      const checked = checkColumns(table, index, row, doubts);
      rows.push({ table, index, texts: checked.texts });
      problems.push(...checked.problems, ...missingColumns(table, index, row));
    }
  }
  for (const problem of await judge(client, doubts)) problems.push(problem);
  return { rows, problems };
}

/** The columns of a change or a condition, without asking for those that are not there. */
export async function checkValues(
  client: Queryable,
  table: Table,
  row: Row,
): Promise<{ texts: Map<Column, string | null>; problems: Problem[] }> {
  const doubts: Doubt[] = [];
  const { texts, problems } = checkColumns(table, undefined, row, doubts);
  return { texts, problems: [...problems, ...(await judge(client, doubts))] };
}

export function unknownColumn(table: Table, column: string): Problem {
  const known = table.columns.map(({ name }) => name).join(", ");
  return { table: table.name, column, rule: `there is no such column; the columns are ${known}` };
}

function checkColumns(
  table: Table,
  index: number | undefined,
  row: Row,
  doubts: Doubt[],
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
        doubts.push({ text: encoded.text, typeName: column.typeName, problem });
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

async function judge(client: Queryable, doubts: Doubt[]): Promise<Problem[]> {
  if (doubts.length === 0) return [];
  const { rows } = await client.query<{ position: number; message: string }>(
    `SELECT d.position::int AS position, e.message
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS d(text, type, position),
            LATERAL pg_input_error_info(d.text, d.type) AS e
      WHERE e.message IS NOT NULL ORDER BY d.position`,
    [doubts.map(({ text }) => text), doubts.map(({ typeName }) => typeName)],
  );
  return rows.flatMap(({ position, message }) => {
    const doubt = doubts[position - 1];
    return doubt ? [{ ...doubt.problem, rule: `expected ${doubt.typeName}: ${message}` }] : [];
  });
}
