/**
 * `minimum_should_match`: `2`, `-1`, `75%`, `-25%`, `2<75%`, `2<-25% 9<-3`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-minimum-should-match.html and
 * `Queries.calculateMinShouldMatch` of the vendor, whose numbers are Java's: 32 bits, percentages in 32-bit floats.
 */
import { conversionError } from "../errors.ts";

/** Clauses of a boolean query, by what they ask. */
export interface ClauseCount {
  readonly optional: number;
  /** All that must match or filter. */
  readonly required: number;
}

/**
 * @param written `undefined` when it was not
 * @returns how many of the optional clauses must match: one at least where nothing else is required; more than there are matches
 *   nothing
 * @throws VendorError for what is no such text
 */
export function requiredOptional(written: string | undefined, { optional, required }: ClauseCount): number {
  const least = required === 0 && optional > 0 ? 1 : 0;
  return written === undefined ? least : Math.max(least, minimumShouldMatch(written, optional));
}

/** @returns how many of `clauses` must match, 0 up to any number */
export function minimumShouldMatch(written: string, clauses: number): number {
  const specification = written.trim();
  if (!specification.includes("<")) return simple(specification, clauses);
  // Each condition holds for more clauses than its number; up to the first number, all must match.
  let minimum = clauses;
  const withoutBlanks = specification
    .split("<")
    .map((part) => part.trim())
    .join("<");
  for (const condition of withoutBlanks.split(/ +/)) {
    const [above = "", then = ""] = condition.split("<");
    if (clauses <= integer(above)) return minimum;
    minimum = simple(then, clauses);
  }
  return minimum;
}

function simple(written: string, clauses: number): number {
  if (!written.includes("%")) {
    const number = integer(written);
    return Math.max(0, number < 0 ? clauses + number : number);
  }
  const share = Math.fround(Math.fround(clauses * integer(written.slice(0, -1))) * Math.fround(1 / 100));
  // A share of less than one clause is none, and may still be missing: of two, -40% are both.
  return Math.max(0, share < 0 ? clauses + Math.trunc(share) : Math.trunc(share));
}

function integer(written: string): number {
  const number = /^[+-]?\d+$/.test(written) ? Number(written) : Number.NaN;
  if (number >= -(2 ** 31) && number < 2 ** 31) return number;
  throw conversionError(`For input string: "${written}"`);
}
