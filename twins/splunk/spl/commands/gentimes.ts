/** `gentimes`: generates one row for each span of time. */
import { floorTo, plus } from "@offhook/log-store/dates/calendar";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { defineCommand } from "../command.ts";
import { type RowField, relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import type { OptionType } from "../syntax/argument-reader.ts";
import { text } from "../syntax/option-types.ts";
import { formatTime } from "../time/strftime.ts";
import { parseTime } from "../time/strptime.ts";
import { zoneOf } from "../time/zone-of.ts";

const MAX_ROWS = 50_000;

interface Increment {
  count: number;
  unit: "day" | "hour" | "minute" | "second";
}

const units = lookupTable<Increment["unit"]>({ d: "day", h: "hour", m: "minute", s: "second" });

/** `6h`; the default unit is days. */
const increment: OptionType<Increment> = {
  expected: "integer with s, m, h or d",
  read(value) {
    const [, count, unit = "d"] = /^(\d{1,9})([smhd])?$/i.exec(value) ?? [];
    const known = units[unit.toLowerCase()];
    return known === undefined || Number(count ?? 0) < 1 ? undefined : { count: Number(count), unit: known };
  },
};

const fields: readonly RowField[] = [
  { name: "starttime", type: "number", multi: false },
  { name: "starthuman", type: "text", multi: false },
  { name: "endtime", type: "number", multi: false },
  { name: "endhuman", type: "text", multi: false },
];

export const gentimes = defineCommand({
  name: "gentimes",
  kind: "generating",
  parse(reader) {
    const { start, end = "0", increment: step } = reader.options({ start: text, end: text, increment });
    if (start === undefined) return reader.fail("The option 'start' is required.");
    return { start, end, step: step ?? ({ count: 1, unit: "day" } as const) };
  },
  compile({ start, end, step }, _, { nowMs, timeZone }) {
    const zone = zoneOf(timeZone);
    const moment = (given: string) => localMoment(given, nowMs, zone);
    return relationOf({ fields, rows: spanRows(moment(start), moment(end), step, zone) });
  },
});

/** Reads `10/25/2026:07:30:00`, a date (its year may have two digits), or days relative to today's midnight. @returns local milliseconds */
function localMoment(given: string, nowMs: number, zone: TimeZone): number {
  if (/^[+-]?\d{1,6}$/.test(given)) {
    return plus(floorTo(nowMs + zone.offsetAt(nowMs), "day"), Number(given), "day");
  }
  const format = given.includes(":") ? "%m/%d/%Y:%H:%M:%S" : "%m/%d/%Y";
  const date = given.replace(
    /^(\d{1,2}\/\d{1,2}\/)(\d\d)(?!\d)/,
    (_, day: string, year: string) => `${day}20${year}`,
  );
  const seconds = parseTime(date, format, { zone, nowMs, whole: true });
  if (seconds === undefined) throw commandError("gentimes", `Invalid time: '${given}'.`, "run");
  return seconds * 1000 + zone.offsetAt(seconds * 1000);
}

/** Each span ends a second before the next begins. */
function spanRows(from: number, to: number, { count, unit }: Increment, zone: TimeZone) {
  const rows: (string | number | null)[][] = [];
  for (let at = from; at < to; ) {
    if (rows.length >= MAX_ROWS)
      throw commandError("gentimes", `There would be more than ${MAX_ROWS} rows.`, "run");
    const next = plus(at, count, unit);
    const start = zone.toEpoch(at) / 1000;
    const end = zone.toEpoch(next) / 1000 - 1;
    rows.push([start, formatHuman(start, zone), end, formatHuman(end, zone)]);
    at = next;
  }
  return rows;
}

function formatHuman(seconds: number, zone: TimeZone): string | null {
  return formatTime(seconds, "%a %b %e %H:%M:%S %Y", zone) ?? null;
}
