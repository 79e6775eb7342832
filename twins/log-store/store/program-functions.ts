/**
 * What SQL cannot say, done by this program: `program('name', text, …) → text`. DuckDB hands over the rows in chunks, each of which
 * holds up everything else that the process does until it is done: so a function is quick, or bounds its time itself.
 */
import { ANY, DuckDBScalarFunction, INTEGER, VARCHAR } from "@duckdb/node-api";
import { joined, raw, type Sql, sql } from "../sql.ts";

/** One value a row. */
export type TextColumn = readonly (string | null)[];

/**
 * Works on the rows of one chunk. It depends on its arguments alone, for DuckDB calls it as often as it likes.
 * @param columns its arguments, each with a value for every row
 * @throws Error the statement fails with its message
 */
export type ProgramFunction = (columns: readonly TextColumn[], rows: number) => TextColumn;

const functions = new Map<string, ProgramFunction>();

/** One use of a function: what is the same in every row is said once. */
interface Use {
  name: string;
  /** One an argument; `null` for one that is a column. */
  constants: readonly (string | null)[];
}

/**
 * Makes a function known, and gives the SQL of its calls. An argument that is one bound text, `CAST($1 AS VARCHAR)`, is handed over
 * once and not row by row.
 * @param name beginning with the twin's
 */
export function defineProgramFunction(name: string, run: ProgramFunction): (...args: Sql[]) => Sql {
  functions.set(name, run);
  return (...args) => {
    const constants = args.map(constantOf);
    const use: Use = { name, constants };
    const columns = args.filter((_, index) => constants[index] === null);
    const given = [sql`CAST(${JSON.stringify(use)} AS VARCHAR)`, turnBefore(columns), ...columns];
    return sql`program(${joined(given, ", ")})`;
  };
}

/**
 * Another function, which does nothing, once a chunk: so whoever hands a chunk over waits for a turn of the event loop before. Else the
 * threads of a statement, or of two, hand over one chunk right after the other, and up to a thousand of them have their turn before
 * anything else has. What an argument's own call has waited for is enough.
 */
function turnBefore(columns: readonly Sql[]): Sql {
  const [first] = columns;
  const calls = columns.some(({ texts }) => texts.some((text) => text.includes("program(")));
  return first === undefined || calls ? raw("0") : sql`program_turn(${first})`;
}

function constantOf({ texts, values: [value, ...others] }: Sql): string | null {
  const isConstant = texts[0] === "CAST(" && texts[1] === " AS VARCHAR)" && others.length === 0;
  return isConstant && typeof value === "string" ? value : null;
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

const checks = new Set<() => void>();

/** Has this called before each chunk, whosever it is, as long as the work lasts. */
export async function checkingBetweenChunks<Result>(
  check: () => void,
  work: Promise<Result>,
): Promise<Result> {
  checks.add(check);
  try {
    return await work;
  } finally {
    checks.delete(check);
  }
}

/** What is registered in a database. */
export function programFunctions(): DuckDBScalarFunction[] {
  return [programFunction(), turnFunction()];
}

/** Its rows are read by nobody. */
function turnFunction(): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: "program_turn",
    parameterTypes: [ANY],
    returnType: INTEGER,
    specialHandling: true,
    mainFunction(_, input, output) {
      for (let row = 0; row < input.rowCount; row++) output.setItem(row, 0);
      output.flush();
    },
  });
}

function programFunction(): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: "program",
    returnType: VARCHAR,
    parameterTypes: [VARCHAR, INTEGER],
    varArgsType: VARCHAR,
    specialHandling: true,
    mainFunction(info, input, output) {
      try {
        const rows = input.rowCount;
        if (rows === 0) return;
        for (const check of checks) check();
        const { name, constants } = readUse(textAt(input.getColumnVector(0), 0) ?? "");
        // The first two are the use, and the turn that it has waited for.
        let column = 2;
        const columns = constants.map((constant) =>
          constant === null
            ? textsOf(input.getColumnVector(column++), rows)
            : new Array<string>(rows).fill(constant),
        );
        const results = find(name)(columns, rows);
        for (let row = 0; row < rows; row++) output.setItem(row, results[row] ?? null);
        output.flush();
      } catch (error) {
        info.setError(error instanceof Error ? error.message : String(error));
      }
    },
  });
}

const uses = new Map<string, Use>();

/** As `defineProgramFunction` has written it. */
function readUse(text: string): Use {
  let use = uses.get(text);
  if (use === undefined) {
    use = JSON.parse(text) as Use;
    if (uses.size >= 1_000) uses.clear();
    uses.set(text, use);
  }
  return use;
}

interface TextVector {
  getItem(row: number): unknown;
}

function textsOf(vector: TextVector, rows: number): TextColumn {
  return Array.from({ length: rows }, (_, row) => textAt(vector, row));
}

function textAt(vector: TextVector, row: number): string | null {
  const value = vector.getItem(row);
  return typeof value === "string" ? value : null;
}

function find(name: string): ProgramFunction {
  const found = functions.get(name);
  if (!found) throw new Error(`this program has no function named ${name}`);
  return found;
}
