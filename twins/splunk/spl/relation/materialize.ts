/** Materialization: runs a search that is too long for one statement halfway, and builds on the rows found. */
import { identifier } from "@offhook/log-store/sql";
import { SplError } from "../spl-error.ts";
import { outputsOf, project, type Relation } from "./relation.ts";
import { type Rows, relationOf } from "./rows.ts";

/** Most rows that pass through the process between two statements. */
const MAX_ROWS = 200_000;
/** Most rows for which materializing costs less than the memory it saves. */
const MAX_ROWS_TO_SAVE_MEMORY = 10_000;
/**
 * Most columns of nested SELECTs in one statement. DuckDB allocates a vector of 2,048 values for each, 32 KB for texts, before it
 * knows of any row: 80 MB at most.
 */
const MAX_NESTED_COLUMNS = 2_500;

/** What runs statements: the search context. */
export interface RelationRunner {
  run(relation: Relation, maxRows: number): Promise<Rows>;
}

/** Runs a relation and returns its rows as a new one. @param work done so far, for the message @throws SplError for too many rows */
export async function materialize(
  relation: Relation,
  runner: RelationRunner,
  work: string,
): Promise<Relation> {
  const rows = await rowsOf(relation, runner, MAX_ROWS);
  if (rows !== undefined) return rows;
  throw new SplError(
    `The search is too long for its rows: after ${work} there may be ${MAX_ROWS} of them.`,
    "run",
  );
}

/** Materializes a relation of few rows and many nested columns. @throws SplError */
export async function materializeIfDeep(relation: Relation, runner: RelationRunner): Promise<Relation> {
  if ((relation.nestedColumns ?? 0) < MAX_NESTED_COLUMNS) return relation;
  return (await rowsOf(relation, runner, MAX_ROWS_TO_SAVE_MEMORY)) ?? { ...relation, nestedColumns: 0 };
}

/** @returns `undefined` when there are more than `maxRows` rows */
async function rowsOf(
  relation: Relation,
  runner: RelationRunner,
  maxRows: number,
): Promise<Relation | undefined> {
  const { columns, order, kind, range } = relation;
  // The last order key of events is their number in the store: it stays one, so that equal rows keep their order.
  const number = order.length > 1 ? order.at(-1) : undefined;
  const input =
    number === undefined
      ? relation
      : project(relation, [
          ...outputsOf(relation),
          { name: ROW_NUMBER, value: { type: "number", multi: false, sql: identifier(number.column) } },
        ]);
  const found = await runner.run(input, maxRows + 1);
  if (found.rows.length > maxRows) return undefined;
  const rows = relationOf(found, kind);
  const within = range === undefined ? {} : { range };
  if (number === undefined) return { ...rows, ...within };
  return {
    ...rows,
    ...within,
    columns: rows.columns.slice(0, columns.length),
    order: [...rows.order, { column: ROW_NUMBER, direction: "ASC" }],
  };
}

const ROW_NUMBER = "#order1";
