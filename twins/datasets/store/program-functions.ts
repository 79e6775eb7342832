/**
 * What SQL cannot say, done by this program: `program('name', text, …) → text`. DuckDB hands over the rows in chunks, each of which
 * holds up everything else that the process does until it is done: so a function is quick, or bounds its time itself.
 */
import { DuckDBScalarFunction, VARCHAR } from "@duckdb/node-api";
import { joined, type Sql, sql } from "../sql.ts";

/** One value a row. */
export type TextColumn = readonly (string | null)[];

/**
 * Works on the rows of one chunk. It depends on its arguments alone, for DuckDB calls it as often as it likes.
 * @param columns its arguments, each with a value for every row
 * @throws Error the statement fails with its message
 */
export type ProgramFunction = (columns: readonly TextColumn[], rows: number) => TextColumn;

const functions = new Map<string, ProgramFunction>();

/** Makes a function known, and gives the SQL of its calls. @param name beginning with the twin's */
export function defineProgramFunction(name: string, run: ProgramFunction): (...args: Sql[]) => Sql {
  functions.set(name, run);
  return (...args) => sql`program(${joined([sql`CAST(${name} AS VARCHAR)`, ...args], ", ")})`;
}

/** The same for a function of one row. */
export function defineRowFunction(
  name: string,
  run: (...values: (string | null)[]) => string | null,
): (...args: Sql[]) => Sql {
  return defineProgramFunction(name, (columns, rows) => {
    const results: (string | null)[] = [];
    for (let row = 0; row < rows; row++) results.push(run(...columns.map((column) => column[row] ?? null)));
    return results;
  });
}

/** What `program` is in a database. */
export function programFunction(): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: "program",
    returnType: VARCHAR,
    varArgsType: VARCHAR,
    specialHandling: true,
    mainFunction(info, input, output) {
      try {
        const rows = input.rowCount;
        if (rows === 0) return;
        const [names = [], ...columns] = Array.from({ length: input.columnCount }, (_, index) =>
          textsOf(input.getColumnVector(index), rows),
        );
        const results = find(names[0])(columns, rows);
        for (let row = 0; row < rows; row++) output.setItem(row, results[row] ?? null);
        output.flush();
      } catch (error) {
        info.setError(error instanceof Error ? error.message : String(error));
      }
    },
  });
}

function textsOf(vector: { getItem(row: number): unknown }, rows: number): TextColumn {
  return Array.from({ length: rows }, (_, row) => {
    const value = vector.getItem(row);
    return typeof value === "string" ? value : null;
  });
}

function find(name: string | null | undefined): ProgramFunction {
  const found = functions.get(name ?? "");
  if (!found) throw new Error(`this program has no function named ${name}`);
  return found;
}
