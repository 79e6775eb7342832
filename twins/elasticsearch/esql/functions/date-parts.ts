/** Parts of a date by Java's `ChronoField`. Weeks begin on Monday. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";

function part(name: string): (date: Sql) => Sql {
  return (date) => sql`date_part(${raw(`'${name}'`)}, ${date})`;
}

const hour = part("hour");
const day = part("day");
const dayOfYear = part("dayofyear");
const year = part("year");
/** Microseconds since midnight. */
const microOfDay = (date: Sql) => sql`(epoch_us(${date}) - epoch_us(date_trunc('day', ${date})))`;
const microOfSecond = (date: Sql) => sql`(epoch_us(${date}) - epoch_us(date_trunc('second', ${date})))`;

export const dateParts = lookupTable<(date: Sql) => Sql>({
  ALIGNED_DAY_OF_WEEK_IN_MONTH: (date) => sql`(${day(date)} - 1) % 7 + 1`,
  ALIGNED_DAY_OF_WEEK_IN_YEAR: (date) => sql`(${dayOfYear(date)} - 1) % 7 + 1`,
  ALIGNED_WEEK_OF_MONTH: (date) => sql`(${day(date)} - 1) // 7 + 1`,
  ALIGNED_WEEK_OF_YEAR: (date) => sql`(${dayOfYear(date)} - 1) // 7 + 1`,
  AMPM_OF_DAY: (date) => sql`${hour(date)} // 12`,
  CLOCK_HOUR_OF_AMPM: (date) => sql`(${hour(date)} + 11) % 12 + 1`,
  CLOCK_HOUR_OF_DAY: (date) => sql`(${hour(date)} + 23) % 24 + 1`,
  DAY_OF_MONTH: day,
  DAY_OF_WEEK: part("isodow"),
  DAY_OF_YEAR: dayOfYear,
  EPOCH_DAY: (date) => sql`datediff('day', TIMESTAMP '1970-01-01', ${date})`,
  ERA: (date) => sql`CASE WHEN ${year(date)} > 0 THEN 1 ELSE 0 END`,
  HOUR_OF_AMPM: (date) => sql`${hour(date)} % 12`,
  HOUR_OF_DAY: hour,
  INSTANT_SECONDS: (date) => sql`floor(epoch(${date}))`,
  MICRO_OF_DAY: microOfDay,
  MICRO_OF_SECOND: microOfSecond,
  MILLI_OF_DAY: (date) => sql`${microOfDay(date)} // 1000`,
  MILLI_OF_SECOND: (date) => sql`${microOfSecond(date)} // 1000`,
  MINUTE_OF_DAY: (date) => sql`${microOfDay(date)} // 60000000`,
  MINUTE_OF_HOUR: part("minute"),
  MONTH_OF_YEAR: part("month"),
  NANO_OF_DAY: (date) => sql`${microOfDay(date)} * 1000`,
  NANO_OF_SECOND: (date) => sql`${microOfSecond(date)} * 1000`,
  OFFSET_SECONDS: (date) => sql`CASE WHEN ${date} IS NOT NULL THEN 0 END`,
  PROLEPTIC_MONTH: (date) => sql`${year(date)} * 12 + ${part("month")(date)} - 1`,
  SECOND_OF_DAY: (date) => sql`${microOfDay(date)} // 1000000`,
  SECOND_OF_MINUTE: (date) => sql`${microOfDay(date)} // 1000000 % 60`,
  YEAR: year,
  YEAR_OF_ERA: (date) => sql`CASE WHEN ${year(date)} > 0 THEN ${year(date)} ELSE 1 - ${year(date)} END`,
});
