/**
 * Dates in written events: the vendor's formats for dynamically mapped date fields.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/dynamic-field-mapping.html#date-detection
 */
import { instantOf } from "../dates/time-formats.ts";

const strict =
  /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2})(?:T(?:(?<hour>\d{2})(?::(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?)?$/;
const slashed =
  /^(?<year>\d{4})\/(?<month>\d{2})\/(?<day>\d{2})(?: (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}))?$/;
const epochMillis = /^(-?\d{1,17})(?:\.(\d{1,6}))?$/;
const plainNumber = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?\s*$/;

/** Whether a string makes a new field a date. A plain number never does: `2020` is more likely a number than a year. */
export function looksLikeDate(text: string): boolean {
  return !plainNumber.test(text) && microsOfDate(text) !== undefined;
}

/** DuckDB's largest finite timestamp; the values beyond it mean infinity. */
const MAX_MICROS = 2n ** 63n - 2n;

/**
 * Microseconds since the Unix epoch; finer digits are cut off. `undefined` for text that is no date in any of the formats, or whose
 * date is out of a column's range.
 */
export function microsOfDate(text: string): bigint | undefined {
  const micros = microsOfText(text);
  return micros === undefined || micros > MAX_MICROS || micros < -MAX_MICROS ? undefined : micros;
}

function microsOfText(text: string): bigint | undefined {
  const pieces = (strict.exec(text) ?? slashed.exec(text))?.groups;
  if (pieces) return instantOf(pieces);
  const epoch = epochMillis.exec(text);
  if (!epoch) return undefined;
  const micros = BigInt(epoch[1] ?? "0") * 1000n;
  const fraction = BigInt((epoch[2] ?? "").padEnd(3, "0").slice(0, 3));
  return text.startsWith("-") ? micros - fraction : micros + fraction;
}
