/**
 * What a search can find at all, looked up in the index of segments before anything is read of the events: parts of the search that
 * the index alone decides are not looked at again.
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { comparisonWords } from "./comparison-words.ts";
import { indexedRows } from "./indexed-rows.ts";
import { type RowSet, SegmentIndex } from "./segment-index.ts";

/** Values of fields that are in more events than these are found by a scan of the field. */
const MOST_ROWS = 2000;
/** What comparisons ask for, to be counted. */
const MOST_COUNTED = 8;
/** Parts of a search that are looked up, each by itself. */
const MOST_PARTS = 24;

export interface Sieve {
  /** On `documents`: all events meet it that are found. */
  among: Sql;
  /** What the index says of these parts: whether an event is found by one, which is looked up unless all events that pass are. */
  decided: ReadonlyMap<SearchExpression, Decided>;
  /** How many events pass at most, where that is known. */
  atMost: number | undefined;
}

/** @param row a column with the row's number. @param scanned whether a row is found that the index does not know */
export type Decided = (row: Sql, scanned: Sql) => Sql;

/** `undefined` when nothing is to be gained. */
export async function sieve(
  expression: SearchExpression,
  context: SearchContext,
): Promise<Sieve | undefined> {
  const words = comparisonWords(expression).slice(0, MOST_COUNTED);
  const hasSets = words.length > 0 || indexedRows(expression, () => undefined).set !== undefined;
  const parts = decidable(expression, true);
  if (!hasSets && parts.length === 0) return undefined;
  const index = SegmentIndex.of(context);
  if (index === undefined) return undefined;
  const rare = new Set(
    await index.rare(
      words.map(({ set }) => set),
      MOST_ROWS,
    ),
  );
  const ofComparison = (part: SearchExpression): RowSet | undefined => {
    const sets = words.flatMap(({ of, set }) => (of === part && rare.has(set) ? [set] : []));
    return sets.length > 1 ? { kind: "and", sets } : sets[0];
  };
  const { set } = indexedRows(expression, ofComparison);
  const alone = parts.filter(({ isSieved }) => !isSieved).slice(0, MOST_PARTS);
  const sets = alone.map((part) => part.set);
  const found = await index.look(set === undefined ? sets : [...sets, set]);
  const passing = found[sets.length];
  const decided = new Map<SearchExpression, Decided>();
  for (const { of, isSieved } of parts) {
    if (isSieved) decided.set(of, (row, scanned) => index.orElse(raw("true"), row, scanned));
  }
  for (const [number, { of }] of alone.entries()) {
    const bits = found[number];
    if (bits !== undefined) decided.set(of, (row, scanned) => index.has(bits, row, scanned));
  }
  const among = passing === undefined ? raw("true") : index.has(passing, sql`_row`, raw("true"));
  return { among, decided, atMost: passing && index.atMost(passing) };
}

interface Part {
  of: SearchExpression;
  set: RowSet;
  /** Whether each event meets it that the sieve lets pass. */
  isSieved: boolean;
}

/** The largest parts of an expression that the index alone decides. */
function decidable(expression: SearchExpression, isSieved: boolean): Part[] {
  const { set, isExact } = indexedRows(expression, () => undefined);
  if (set !== undefined && isExact) return [{ of: expression, set, isSieved }];
  switch (expression.node) {
    case "and":
      return expression.operands.flatMap((operand) => decidable(operand, isSieved));
    case "or":
      return expression.operands.flatMap((operand) => decidable(operand, false));
    case "not":
      return decidable(expression.operand, false);
    default:
      return [];
  }
}
