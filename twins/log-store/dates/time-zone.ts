/** Time zones by their names: `Z`, `UTC`, `+02:00`, `-05`, `UTC+1`, `Europe/Paris`. */

export interface TimeZone {
  /** Its normal name: `Z`, `+02:00`, `Europe/Paris`. */
  readonly id: string;
  /** The offset, when it is always the same. */
  readonly fixedOffsetMs: number | undefined;
  /** What local clocks are ahead of UTC at a moment, milliseconds. */
  offsetAt(epochMs: number): number;
  /**
   * The moment of a local time (given as if it were UTC). A time that clocks skip is taken as much later as they skip; of a time
   * that they show twice, the first is meant.
   */
  toEpoch(localMs: number): number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_OFFSET_MS = 18 * 60 * MINUTE_MS;
const MAX_KNOWN_ZONES = 1_000;

export const utc: TimeZone = fixed(0);

const known = new Map<string, TimeZone>();

/** `undefined` when nobody knows the zone. */
export function findTimeZone(name: string): TimeZone | undefined {
  const before = known.get(name);
  if (before) return before;
  const zone = offsetZone(name) ?? regionZone(name);
  if (zone && known.size < MAX_KNOWN_ZONES) known.set(name, zone);
  return zone;
}

function offsetZone(name: string): TimeZone | undefined {
  if (name === "Z" || name === "UTC" || name === "GMT" || name === "UT") return utc;
  const match = /^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?$/.exec(name);
  if (!match) return undefined;
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (offsetMs > MAX_OFFSET_MS) return undefined;
  return fixed(sign === "-" ? -offsetMs : offsetMs);
}

function fixed(offsetMs: number): TimeZone {
  return {
    id: offsetMs === 0 ? "Z" : offsetText(offsetMs, ":"),
    fixedOffsetMs: offsetMs,
    offsetAt: () => offsetMs,
    toEpoch: (localMs) => localMs - offsetMs,
  };
}

/** `+02:00`; with seconds when there are any. */
export function offsetText(offsetMs: number, separator: ":" | ""): string {
  const seconds = Math.abs(offsetMs) / 1000;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (seconds % 60 !== 0) parts.push(seconds % 60);
  return (offsetMs < 0 ? "-" : "+") + parts.map((part) => String(part).padStart(2, "0")).join(separator);
}

function regionZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][A-Za-z0-9~/._+-]+$/.test(name)) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
  const offsetAt = remembered((epochMs) => localTime(format, epochMs) - Math.floor(epochMs / 1000) * 1000);
  return { id: name, fixedOffsetMs: undefined, offsetAt, toEpoch: (localMs) => toEpoch(offsetAt, localMs) };
}

function localTime(format: Intl.DateTimeFormat, epochMs: number): number {
  const parts = new Map(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const year = parts.get("era") === "BC" ? 1 - part("year") : part("year");
  const local = new Date(0);
  local.setUTCFullYear(year, part("month") - 1, part("day"));
  return local.setUTCHours(part("hour"), part("minute"), part("second"), 0);
}

/** Offsets change at quarters of an hour: one look-up each. Local mean times of long ago are looked up every time. */
function remembered(offsetAt: (epochMs: number) => number): (epochMs: number) => number {
  const quarterMs = 15 * MINUTE_MS;
  const sinceMs = Date.UTC(1972, 0, 1);
  const maxRemembered = 100_000;
  const offsets = new Map<number, number>();
  return (epochMs) => {
    if (epochMs < sinceMs) return offsetAt(epochMs);
    const quarter = Math.floor(epochMs / quarterMs);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = offsetAt(epochMs);
      if (offsets.size >= maxRemembered) offsets.clear();
      offsets.set(quarter, offset);
    }
    return offset;
  };
}

function toEpoch(offsetAt: (epochMs: number) => number, localMs: number): number {
  const before = offsetAt(localMs - DAY_MS);
  const after = offsetAt(localMs + DAY_MS);
  if (before === after) return localMs - before;
  if (offsetAt(localMs - before) === before) return localMs - before;
  if (offsetAt(localMs - after) === after) return localMs - after;
  return localMs - before;
}
