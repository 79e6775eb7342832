/**
 * Prefilter of a search: looks its words up in the segment index before any event is read. The index yields candidates, and decides
 * some parts of the search exactly, so that they need no scan.
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { comparisonWords } from "./comparison-words.ts";
import { indexedRows } from "./indexed-rows.ts";
import { type RowSet, SegmentIndex } from "./segment-index.ts";

/** Values of fields with more matches than this are found faster by scanning the field. */
const MAX_RARE_ROWS = 2000;
/** Words of comparisons that are counted in the index. */
const MAX_COUNTED = 8;
/** Parts of a search that are looked up one by one. */
const MAX_PARTS = 24;

export interface Prefilter {
  /** Condition on `documents` that every match meets. */
  candidates: Sql;
  /** Exact tests of the parts that the index decides. */
  exact: ReadonlyMap<SearchExpression, ExactTest>;
  /** Upper bound of the number of candidates, if known. */
  maxRows: number | undefined;
}

/** @param row column with the row number @param unindexed condition for rows that are not in the index yet */
export type ExactTest = (row: Sql, unindexed: Sql) => Sql;

/** @returns `undefined` when the index cannot help */
export async function prefilter(
  expression: SearchExpression,
  context: SearchContext,
): Promise<Prefilter | undefined> {
  const words = comparisonWords(expression).slice(0, MAX_COUNTED);
  const hasSets = words.length > 0 || indexedRows(expression, () => undefined).set !== undefined;
  const parts = exactParts(expression, { isImplied: true });
  if (!hasSets && parts.length === 0) return undefined;
  const index = SegmentIndex.open(context);
  if (index === undefined) return undefined;
  const rare = new Set(
    await index.findRare(
      words.map(({ set }) => set),
      MAX_RARE_ROWS,
    ),
  );
  const ofComparison = (part: SearchExpression): RowSet | undefined => {
    const sets = words.flatMap(({ expression: one, set }) => (one === part && rare.has(set) ? [set] : []));
    return sets.length > 1 ? { kind: "and", sets } : sets[0];
  };
  const { set } = indexedRows(expression, ofComparison);
  const lookedUp = parts.filter(({ isImplied }) => !isImplied).slice(0, MAX_PARTS);
  const sets = lookedUp.map((part) => part.set);
  const found = await index.lookUp(set === undefined ? sets : [...sets, set]);
  const passing = found[sets.length];
  const exact = new Map<SearchExpression, ExactTest>();
  for (const { part, isImplied } of parts) {
    if (isImplied) exact.set(part, (row, unindexed) => index.orUnindexed(raw("true"), row, unindexed));
  }
  for (const [number, { part }] of lookedUp.entries()) {
    const matches = found[number];
    if (matches !== undefined) exact.set(part, (row, unindexed) => index.contains(matches, row, unindexed));
  }
  const candidates = passing === undefined ? raw("true") : index.contains(passing, sql`_row`, raw("true"));
  return { candidates, exact, maxRows: passing && index.maxRows(passing) };
}

interface Part {
  part: SearchExpression;
  set: RowSet;
  /** Whether every candidate meets it. */
  isImplied: boolean;
}

/** The largest parts of an expression that the index decides exactly. */
function exactParts(expression: SearchExpression, { isImplied }: { isImplied: boolean }): Part[] {
  const { set, isExact } = indexedRows(expression, () => undefined);
  if (set !== undefined && isExact) return [{ part: expression, set, isImplied }];
  switch (expression.node) {
    case "and":
      return expression.operands.flatMap((operand) => exactParts(operand, { isImplied }));
    case "or":
      return expression.operands.flatMap((operand) => exactParts(operand, { isImplied: false }));
    case "not":
      return exactParts(expression.operand, { isImplied: false });
    default:
      return [];
  }
}
