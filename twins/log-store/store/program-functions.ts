/**
 * Scalar functions implemented by this program, for what SQL cannot express: `program('name', text, …) → text`. DuckDB passes rows in
 * chunks, and a chunk blocks the event loop until it is done: so a function must be quick, or bound its time itself.
 */
import { ANY, DuckDBScalarFunction, INTEGER, VARCHAR } from "@duckdb/node-api";
import { joined, raw, type Sql, sql } from "../sql.ts";

/** One value a row. */
export type TextColumn = readonly (string | null)[];

/**
 * Computes the rows of one chunk. It must be a pure function: DuckDB calls it as often as it likes.
 * @param columns the arguments, each with a value for every row
 * @throws Error whose message the statement fails with
 */
export type ProgramFunction = (columns: readonly TextColumn[], rows: number) => TextColumn;

const registry = new Map<string, ProgramFunction>();

/** A call site: the arguments that are the same in every row are passed once. */
interface CallSite {
  name: string;
  /** One per argument; `null` for a column. */
  constants: readonly (string | null)[];
}

/**
 * Registers a function, and returns the builder of its SQL calls. An argument that is one bound text, `CAST($1 AS VARCHAR)`, is passed
 * once, not row by row.
 * @param name starts with the twin's name
 */
export function defineProgramFunction(name: string, run: ProgramFunction): (...args: Sql[]) => Sql {
  registry.set(name, run);
  return (...args) => {
    const constants = args.map(constantOf);
    const site: CallSite = { name, constants };
    const columns = args.filter((_, index) => constants[index] === null);
    const given = [sql`CAST(${JSON.stringify(site)} AS VARCHAR)`, yieldBefore(columns), ...columns];
    return sql`program(${joined(given, ", ")})`;
  };
}

/**
 * A call, once a chunk, of another function that does nothing, so that each chunk waits for a turn of the event loop. Otherwise the
 * threads of one or two statements pass chunk after chunk, and up to a thousand of them run before anything else does. An argument
 * that calls `program` itself has waited already.
 */
function yieldBefore(columns: readonly Sql[]): Sql {
  const [first] = columns;
  const calls = columns.some(({ texts }) => texts.some((text) => text.includes("program(")));
  return first === undefined || calls ? raw("0") : sql`program_turn(${first})`;
}

function constantOf({ texts, values: [value, ...others] }: Sql): string | null {
  const isConstant = texts[0] === "CAST(" && texts[1] === " AS VARCHAR)" && others.length === 0;
  return isConstant && typeof value === "string" ? value : null;
}

/** As `defineProgramFunction`, for a function of one row. */
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

/** Calls `check` before each chunk, of any statement, until the work ends. */
export async function checkBetweenChunks<Result>(check: () => void, work: Promise<Result>): Promise<Result> {
  checks.add(check);
  try {
    return await work;
  } finally {
    checks.delete(check);
  }
}

/** The functions to register in a database. */
export function programFunctions(): DuckDBScalarFunction[] {
  return [programFunction(), yieldFunction()];
}

/** Its results are ignored. */
function yieldFunction(): DuckDBScalarFunction {
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
        const { name, constants } = readCallSite(textAt(input.getColumnVector(0), 0) ?? "");
        // The first two arguments are the call site and the yield.
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

/** Bound of the cache, which is emptied when full. */
const MAX_CALL_SITES = 1_000;
const callSites = new Map<string, CallSite>();

/** Parses what `defineProgramFunction` wrote; cached, since every chunk has it. */
function readCallSite(text: string): CallSite {
  let site = callSites.get(text);
  if (site === undefined) {
    site = JSON.parse(text) as CallSite;
    if (callSites.size >= MAX_CALL_SITES) callSites.clear();
    callSites.set(text, site);
  }
  return site;
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
  const found = registry.get(name);
  if (!found) throw new Error(`this program has no function named ${name}`);
  return found;
}
