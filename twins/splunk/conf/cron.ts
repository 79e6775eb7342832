/** Cron schedules: minute, hour, day of the month, month, day of the week. */
import { findTimeZone, utc } from "@offhook/log-store/dates/time-zone";

export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Whether both kinds of days are limited; a day has to match one of them then. */
  readonly eitherDay: boolean;
}

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;
const names = ["jan feb mar apr may jun jul aug sep oct nov dec", "sun mon tue wed thu fri sat"].map((text) =>
  text.split(" "),
);

/** Parses a cron expression; `undefined` for any other text. */
export function parseCron(text: string): Cron | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) return undefined;
  const sets = fields.map((field, index) => valuesOf(field, index));
  const [minutes, hours, days, months, weekdays] = sets;
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  const eitherDay = fields[2] !== "*" && fields[4] !== "*";
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((day) => day % 7)), eitherDay };
}

function valuesOf(field: string, index: number): ReadonlySet<number> | undefined {
  const [min = 0, max = 59] = ranges[index] ?? [];
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const match = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part);
    if (!match) return undefined;
    const [, first = "", last, stepText] = match;
    const from = first === "*" ? min : numberOf(first, index);
    const step = Number(stepText ?? 1);
    const only = stepText === undefined && first !== "*";
    const to = last !== undefined ? numberOf(last, index) : only ? from : max;
    if (from === undefined || to === undefined || from < min || to > max || from > to || step < 1)
      return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function numberOf(text: string, index: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const list = index === 3 ? names[0] : index === 4 ? names[1] : undefined;
  const place = list?.indexOf(text.toLowerCase()) ?? -1;
  if (place < 0) return undefined;
  return index === 3 ? place + 1 : place;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A schedule without a time in eight years has none: the 30th of February. */
const MAX_DAYS_AHEAD = 366 * 8;

/** The next `count` times between two moments, both excluded, in milliseconds since the epoch. */
export function nextTimes(
  cron: Cron,
  afterMs: number,
  count: number,
  timeZone: string,
  untilMs = Infinity,
): number[] {
  const zone = findTimeZone(timeZone) ?? utc;
  const times: number[] = [];
  const first = Math.floor((afterMs + zone.offsetAt(afterMs)) / DAY_MS) * DAY_MS;
  for (let day = 0; day < MAX_DAYS_AHEAD && times.length < count; day++) {
    const localDay = first + day * DAY_MS;
    if (!isDay(cron, new Date(localDay))) continue;
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const time = zone.toEpoch(localDay + (hour * 60 + minute) * MINUTE_MS);
        if (time > afterMs && time < untilMs) times.push(time);
        if (time >= untilMs) return times.sort((a, b) => a - b).slice(0, count);
      }
    }
  }
  return times.sort((a, b) => a - b).slice(0, count);
}

function isDay({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const day = days.has(date.getUTCDate());
  const weekday = weekdays.has(date.getUTCDay());
  return eitherDay ? day || weekday : day && weekday;
}
