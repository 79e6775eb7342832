/** Abbreviations of time zones: `UTC`, `EST`, `CEST`. */
import { findTimeZone, offsetText, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { memoize } from "@offhook/platform/base/memoize";

/** Each variant of English has abbreviations for the zones of its region. */
const locales = ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA", "en-NZ"];

/** The abbreviation of a zone at a moment; its offset (`+0545`) if there is none. */
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

const formatsOf = memoize(
  (timeZone) => locales.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" })),
  1_000,
);

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

/** Finds a zone by its abbreviation or IANA name. */
export function namedZone(name: string): TimeZone | undefined {
  const hours = abbreviations[name.toUpperCase()];
  if (hours === undefined) return findTimeZone(name);
  return findTimeZone(offsetText(hours * 3_600_000, ":"));
}
