/**
 * The dates that a written event may hold: the vendor's formats of a dynamically mapped date field.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/dynamic-field-mapping.html#date-detection
 */

const strict =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(?:(\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?)?$/;
const slashed = /^(\d{4})\/(\d{2})\/(\d{2})(?: (\d{2}):(\d{2}):(\d{2}))?$/;
const epochMillis = /^(-?\d{1,17})(?:\.(\d{1,6}))?$/;
const plainNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?\s*$/;

/** Whether a string makes a new field a date. A plain number never does: `2020` is more likely a number than a year. */
export function looksLikeDate(text: string): boolean {
  return !plainNumber.test(text) && microsOfDate(text) !== undefined;
}

/** What DuckDB's timestamps hold: what is beyond stands for infinity. */
const MOST_MICROS = 2n ** 63n - 2n;

/**
 * Microseconds since the Unix epoch; finer digits are cut off. `undefined` when it is no date in any of the formats, or one that no
 * column holds.
 */
export function microsOfDate(text: string): bigint | undefined {
  const micros = microsOfText(text);
  return micros === undefined || micros > MOST_MICROS || micros < -MOST_MICROS ? undefined : micros;
}

function microsOfText(text: string): bigint | undefined {
  const parts = strict.exec(text) ?? slashed.exec(text);
  if (parts) return microsOf(parts);
  const epoch = epochMillis.exec(text);
  if (!epoch) return undefined;
  const micros = BigInt(epoch[1] ?? "0") * 1000n;
  const fraction = BigInt((epoch[2] ?? "").padEnd(3, "0").slice(0, 3));
  return text.startsWith("-") ? micros - fraction : micros + fraction;
}

function microsOf(parts: RegExpExecArray): bigint | undefined {
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00"] = parts;
  // Date.UTC would read a year below 100 as one of the twentieth century.
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const exists =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60;
  const offset = offsetMs(parts[8] ?? "Z");
  if (!exists || offset === undefined) return undefined;
  const fraction = BigInt((parts[7] ?? "").padEnd(6, "0").slice(0, 6));
  return BigInt(date.getTime() - offset) * 1000n + fraction;
}

function offsetMs(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || "0");
  if (hours > 18 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
