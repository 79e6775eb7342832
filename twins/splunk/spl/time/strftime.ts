/** `strftime`: formats times. */
import { dayOfYear, isoWeek, isoWeekday } from "@offhook/log-store/dates/calendar";
import { monthNames, weekdayNames } from "@offhook/log-store/dates/names";
import { offsetText, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { type FormatItem, readTimeFormat } from "./time-format.ts";
import { zoneAbbreviation } from "./zone-names.ts";

/** Years 1 to 9999. */
export const EARLIEST_SECONDS = -62_135_596_800;
export const LATEST_SECONDS = 253_402_300_799;

interface Moment {
  /** Whole microseconds since the epoch. */
  micros: number;
  /** Local time, as if it were UTC. */
  local: Date;
  offsetMs: number;
  zone: TimeZone;
}

/**
 * Formats a moment.
 * @param seconds since the epoch, with a fraction
 * @returns `undefined` for a moment outside the years 1 to 9999
 */
export function formatTime(seconds: number, format: string, zone: TimeZone): string | undefined {
  if (!(seconds >= EARLIEST_SECONDS && seconds <= LATEST_SECONDS)) return undefined;
  const micros = Math.round(seconds * 1e6);
  const epochMs = Math.floor(micros / 1000);
  const offsetMs = zone.offsetAt(epochMs);
  const moment = { micros, local: new Date(epochMs + offsetMs), offsetMs, zone };
  return readTimeFormat(format)
    .map((item) => (item.kind === "literal" ? item.text : variableText(item, moment)))
    .join("");
}

const zeros = (value: number, digits = 2) => String(value).padStart(digits, "0");
const blanks = (value: number) => String(value).padStart(2, " ");

function variableText({ name, width }: Extract<FormatItem, { kind: "variable" }>, moment: Moment): string {
  const { local, offsetMs } = moment;
  const localMs = local.getTime();
  switch (name) {
    case "Y":
      return zeros(local.getUTCFullYear(), 4);
    case "C":
      return zeros(Math.floor(local.getUTCFullYear() / 100));
    case "y":
      return zeros(local.getUTCFullYear() % 100);
    case "m":
      return zeros(local.getUTCMonth() + 1);
    case "B":
      return monthNames[local.getUTCMonth()] ?? "";
    case "b":
      return (monthNames[local.getUTCMonth()] ?? "").slice(0, 3);
    case "d":
      return zeros(local.getUTCDate());
    case "e":
      return blanks(local.getUTCDate());
    case "j":
      return zeros(dayOfYear(localMs), 3);
    case "A":
      return weekdayNames[local.getUTCDay()] ?? "";
    case "a":
      return (weekdayNames[local.getUTCDay()] ?? "").slice(0, 3);
    case "w":
      return String(local.getUTCDay());
    case "u":
      return String(isoWeekday(localMs));
    case "U":
      return zeros(weekOfYear(dayOfYear(localMs), local.getUTCDay()));
    case "W":
      return zeros(weekOfYear(dayOfYear(localMs), isoWeekday(localMs) - 1));
    case "V":
      return zeros(isoWeek(localMs).week);
    case "G":
      return zeros(isoWeek(localMs).year, 4);
    case "g":
      return zeros(isoWeek(localMs).year % 100);
    case "H":
      return zeros(local.getUTCHours());
    case "k":
      return blanks(local.getUTCHours());
    case "I":
      return zeros(local.getUTCHours() % 12 || 12);
    case "l":
      return blanks(local.getUTCHours() % 12 || 12);
    case "M":
      return zeros(local.getUTCMinutes());
    case "S":
      return zeros(local.getUTCSeconds());
    case "p":
      return local.getUTCHours() < 12 ? "AM" : "PM";
    case "s":
      return String(Math.floor(moment.micros / 1e6));
    case "f":
      return fraction(moment.micros, 6);
    case "N":
      return fraction(moment.micros, width ?? 9);
    case "Q":
      return fraction(moment.micros, width ?? 3);
    case "z":
      return offsetText(offsetMs, "");
    case ":z":
      return offsetText(offsetMs, ":");
    case "::z":
      return `${offsetText(offsetMs - (offsetMs % 60_000), ":")}:${zeros((Math.abs(offsetMs) / 1000) % 60)}`;
    case ":::z":
      return offsetText(offsetMs, "").slice(0, 3);
    case "Ez":
      return String(Math.trunc(offsetMs / 60_000));
    default:
      return zoneAbbreviation(moment.zone, Math.floor(moment.micros / 1000));
  }
}

/** Number of the week, which begins with weekday 0. Days before the first full week are in week 0. */
function weekOfYear(day: number, weekday: number): number {
  return Math.floor((day + 6 - weekday) / 7);
}

function fraction(micros: number, digits: number): string {
  const all = zeros(micros - Math.floor(micros / 1e6) * 1e6, 6);
  return all.padEnd(digits, "0").slice(0, digits);
}
