/** Time zones by name: `Z`, `UTC`, `+02:00`, `-05`, `UTC+1`, `Europe/Paris`. */

export interface TimeZone {
  /** The normalized name: `Z`, `+02:00`, `Europe/Paris`. */
  readonly id: string;
  /** Of a zone whose offset never changes. */
  readonly fixedOffsetMs: number | undefined;
  /** How far local clocks are ahead of UTC at a moment, in milliseconds. */
  offsetAt(epochMs: number): number;
  /**
   * The moment of a local time, which is given as if it were UTC. A time in a gap moves later by the length of the gap; an ambiguous
   * time means the first of its two moments.
   */
  toEpoch(localMs: number): number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_OFFSET_MS = 18 * 60 * MINUTE_MS;
const MAX_KNOWN_ZONES = 1_000;

export const utc: TimeZone = fixedZone(0);

const knownZones = new Map<string, TimeZone>();

/** `undefined` for an unknown zone. */
export function findTimeZone(name: string): TimeZone | undefined {
  const before = knownZones.get(name);
  if (before) return before;
  const zone = offsetZone(name) ?? regionZone(name);
  if (zone && knownZones.size < MAX_KNOWN_ZONES) knownZones.set(name, zone);
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
  return fixedZone(sign === "-" ? -offsetMs : offsetMs);
}

function fixedZone(offsetMs: number): TimeZone {
  return {
    id: offsetMs === 0 ? "Z" : offsetText(offsetMs, ":"),
    fixedOffsetMs: offsetMs,
    offsetAt: () => offsetMs,
    toEpoch: (localMs) => localMs - offsetMs,
  };
}

/** `+02:00`; with seconds if there are any. */
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
  const offsetAt = cacheOffsets((epochMs) => localTime(format, epochMs) - Math.floor(epochMs / 1000) * 1000);
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

/** Caches one offset per quarter of an hour, for since 1972 offsets change at these alone. Earlier times are not cached. */
function cacheOffsets(offsetAt: (epochMs: number) => number): (epochMs: number) => number {
  const quarterMs = 15 * MINUTE_MS;
  const sinceMs = Date.UTC(1972, 0, 1);
  const maxCached = 100_000;
  const offsets = new Map<number, number>();
  return (epochMs) => {
    if (epochMs < sinceMs) return offsetAt(epochMs);
    const quarter = Math.floor(epochMs / quarterMs);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = offsetAt(epochMs);
      if (offsets.size >= maxCached) offsets.clear();
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
