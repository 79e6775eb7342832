/** Searches that are too long for one statement go on with the rows of a first one. */
import type { Relation } from "./relation.ts";
import { relationOf } from "./rows.ts";
import type { SearchContext } from "./search-context.ts";
import { SplError } from "./spl-error.ts";

/** Rows that may be kept here between two statements. */
const maxKeptRows = 200_000;

/** Runs what there is, and goes on with the rows. @param before what has been made by then. @throws SplError */
export async function madeOf(relation: Relation, context: SearchContext, before: string): Promise<Relation> {
  const rows = await context.run(relation, maxKeptRows + 1);
  if (rows.rows.length <= maxKeptRows) return relationOf(rows, relation.kind);
  throw new SplError(
    `The search is too long for its rows: after ${before} there may be ${maxKeptRows} of them.`,
    "run",
  );
}
