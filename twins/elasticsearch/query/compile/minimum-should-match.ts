/**
 * `minimum_should_match`: `2`, `-1`, `75%`, `-25%`, `2<75%`, `2<-25% 9<-3`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-minimum-should-match.html and
 * `Queries.calculateMinShouldMatch` of the vendor, whose numbers are Java's: 32 bits, percentages in 32-bit floats.
 */
import { conversionError } from "../errors.ts";

/** How many clauses a boolean query has. */
export interface ClauseCount {
  readonly optional: number;
  /** `must` and `filter` together. */
  readonly required: number;
}

/**
 * @param written absent: the default
 * @returns how many of the optional clauses must match; at least one where nothing else is required; more than there are when nothing
 *   can match
 * @throws VendorError for a malformed text
 */
export function requiredOptional(written: string | undefined, { optional, required }: ClauseCount): number {
  const least = required === 0 && optional > 0 ? 1 : 0;
  return written === undefined ? least : Math.max(least, minimumShouldMatch(written, optional));
}

/** @returns how many of `clauses` must match, 0 or more, with no upper limit */
export function minimumShouldMatch(written: string, clauses: number): number {
  const specification = written.trim();
  if (!specification.includes("<")) return parseCount(specification, clauses);
  // A condition applies above its number; up to the first number, all clauses must match.
  let minimum = clauses;
  const withoutBlanks = specification
    .split("<")
    .map((part) => part.trim())
    .join("<");
  for (const condition of withoutBlanks.split(/ +/)) {
    const [above = "", then = ""] = condition.split("<");
    if (clauses <= parseInteger(above)) return minimum;
    minimum = parseCount(then, clauses);
  }
  return minimum;
}

function parseCount(written: string, clauses: number): number {
  if (!written.includes("%")) {
    const number = parseInteger(written);
    return Math.max(0, number < 0 ? clauses + number : number);
  }
  const share = Math.fround(Math.fround(clauses * parseInteger(written.slice(0, -1))) * Math.fround(1 / 100));
  // Rounds towards zero, also for the share that may be missing: with two clauses, -40% requires both.
  return Math.max(0, share < 0 ? clauses + Math.trunc(share) : Math.trunc(share));
}

function parseInteger(written: string): number {
  const number = /^[+-]?\d+$/.test(written) ? Number(written) : Number.NaN;
  if (number >= -(2 ** 31) && number < 2 ** 31) return number;
  throw conversionError(`For input string: "${written}"`);
}
