/** Short names of time zones: `UTC`, `EST`, `CEST`. */
import { findTimeZone, offsetText, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** English of different places knows the names of different zones. */
const locales = ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA", "en-NZ"];
const formats = new Map<string, Intl.DateTimeFormat[]>();

/** What a zone is called at a moment; its offset (`+0545`) where nobody has a name for it. */
export function zoneAbbreviation(zone: TimeZone, epochMs: number): string {
  if (zone.fixedOffsetMs === 0) return "UTC";
  if (zone.fixedOffsetMs === undefined) {
    for (const format of formatsOf(zone.id)) {
      const name = format.formatToParts(epochMs).find(({ type }) => type === "timeZoneName")?.value;
      if (name !== undefined && !/^(GMT|UTC)./.test(name)) return name;
    }
  }
  return offsetText(zone.offsetAt(epochMs), "");
}

function formatsOf(timeZone: string): Intl.DateTimeFormat[] {
  let known = formats.get(timeZone);
  if (!known) {
    known = locales.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" }));
    formats.set(timeZone, known);
  }
  return known;
}

/** Hours ahead of UTC. */
const abbreviations = lookupTable<number>({
  UTC: 0,
  GMT: 0,
  UT: 0,
  Z: 0,
  WET: 0,
  WEST: 1,
  BST: 1,
  IST: 5.5,
  CET: 1,
  CEST: 2,
  MET: 1,
  MEST: 2,
  EET: 2,
  EEST: 3,
  MSK: 3,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  AKST: -9,
  AKDT: -8,
  HST: -10,
  AST: -4,
  ADT: -3,
  JST: 9,
  KST: 9,
  AEST: 10,
  AEDT: 11,
  ACST: 9.5,
  ACDT: 10.5,
  AWST: 8,
  NZST: 12,
  NZDT: 13,
  SGT: 8,
  HKT: 8,
  SAST: 2,
});

/** The zone that a text names. */
export function namedZone(name: string): TimeZone | undefined {
  const hours = abbreviations[name.toUpperCase()];
  if (hours === undefined) return findTimeZone(name);
  return findTimeZone(offsetText(hours * 3_600_000, ":"));
}
