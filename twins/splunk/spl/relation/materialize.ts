/** Searches that are too long for one statement go on with the rows of a first one. */
import { identifier } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { SplError } from "../spl-error.ts";
import { outputsOf, project, type Relation } from "./relation.ts";
import { relationOf } from "./rows.ts";

/** Rows that may be kept here between two statements. */
const maxKeptRows = 200_000;
/** Rows that are kept here to save the next statement memory. */
const MAX_SAVING_ROWS = 10_000;
/**
 * Columns of nested SELECTs in one statement. For each DuckDB takes a vector of 2,048 values before it knows of any row, 32 KB for
 * texts: a statement takes at most 80 MB for them.
 */
const MAX_STEPS = 2_500;

/** Runs what there is, and goes on with the rows. @param before what has been made by then. @throws SplError */
export async function madeOf(relation: Relation, context: SearchContext, before: string): Promise<Relation> {
  const made = await ofRows(relation, context, maxKeptRows);
  if (made !== undefined) return made;
  throw new SplError(
    `The search is too long for its rows: after ${before} there may be ${maxKeptRows} of them.`,
    "run",
  );
}

/** Goes on with the rows, where they are few and the SELECTs that make them many. @throws SplError */
export async function withFewSteps(relation: Relation, context: SearchContext): Promise<Relation> {
  if ((relation.steps ?? 0) < MAX_STEPS) return relation;
  const made = await ofRows(relation, context, MAX_SAVING_ROWS);
  return made ?? { ...relation, steps: 0 };
}

async function ofRows(
  relation: Relation,
  context: SearchContext,
  maxRows: number,
): Promise<Relation | undefined> {
  const { columns, order, kind, range } = relation;
  // The last key of events is their number in the store.
  const number = order.length > 1 ? order.at(-1) : undefined;
  const numbered =
    number === undefined
      ? relation
      : project(relation, [
          ...outputsOf(relation),
          { name: ROW_NUMBER, value: { type: "number", multi: false, sql: identifier(number.column) } },
        ]);
  const found = await context.run(numbered, maxRows + 1);
  if (found.rows.length > maxRows) return undefined;
  const made = relationOf(found, kind);
  const within = range === undefined ? {} : { range };
  if (number === undefined) return { ...made, ...within };
  const shown = made.columns.slice(0, columns.length);
  return {
    ...made,
    ...within,
    columns: shown,
    order: [...made.order, { column: ROW_NUMBER, direction: "ASC" }],
  };
}

const ROW_NUMBER = "#order1";
