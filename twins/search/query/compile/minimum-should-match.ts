/**
 * `minimum_should_match`: `2`, `-1`, `75%`, `-25%`, `2<75%`, `2<-25% 9<-3`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-minimum-should-match.html
 */
import { VendorError } from "../../vendor-error.ts";

/** @returns how many of `clauses` must match, 0 up to any number (more than there are matches nothing) */
export function minimumShouldMatch(written: string, clauses: number): number {
  const specification = written.trim();
  if (!specification.includes("<")) return simple(specification, clauses);
  // Each condition holds for more clauses than its number; up to the first number, all must match.
  let minimum = clauses;
  for (const condition of specification.replace(/\s*<\s*/g, "<").split(/\s+/)) {
    const [above = "", then = ""] = condition.split("<");
    if (clauses <= number(above)) return minimum;
    minimum = simple(then, clauses);
  }
  return minimum;
}

function simple(written: string, clauses: number): number {
  const percent = written.endsWith("%");
  const value = number(percent ? written.slice(0, -1) : written);
  const counted = percent
    ? Math.trunc(Math.fround(Math.fround(clauses * value) * Math.fround(1 / 100)))
    : value;
  return Math.max(0, counted < 0 ? clauses + counted : counted);
}

function number(written: string): number {
  if (/^[+-]?\d{1,9}$/.test(written)) return Number(written);
  throw new VendorError(400, { type: "number_format_exception", reason: `For input string: "${written}"` });
}
