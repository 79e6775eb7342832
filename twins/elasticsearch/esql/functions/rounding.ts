/** The time spans that DATE_TRUNC and BUCKET round to. */

import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { illegalArgument } from "../../vendor/error.ts";
import type { TimeSpan } from "../syntax.ts";

export type Rounding = { calendar: "year" | "quarter" | "month" | "week" | "day" } | { ms: number };

const DAY_MS = 86_400_000;

/** @throws VendorError for a span that the vendor does not round to */
export function roundingOf({ years, months, days, ms, clock }: TimeSpan): Rounding {
  if (clock) {
    if (ms <= 0) throw illegalArgument("Zero or negative time interval is not supported");
    return { ms };
  }
  const units = [years, months, days].filter((unit) => unit !== 0);
  if (units.length === 0 || units.some((unit) => unit < 0))
    throw illegalArgument("Zero or negative time interval is not supported");
  if (units.length > 1) throw illegalArgument("Time interval with multiple periods is not supported");
  if (days === 1) return { calendar: "day" };
  if (days === 7) return { calendar: "week" };
  if (days > 1) return { ms: days * DAY_MS };
  if (months === 1) return { calendar: "month" };
  if (months === 3) return { calendar: "quarter" };
  if (years === 1) return { calendar: "year" };
  throw illegalArgument("Time interval is not supported");
}

export function roundDownSql(date: Sql, rounding: Rounding): Sql {
  if ("calendar" in rounding) return sql`date_trunc(${raw(`'${rounding.calendar}'`)}, ${date})`;
  return sql`time_bucket(to_milliseconds(CAST(${rounding.ms} AS DOUBLE)), ${date}, TIMESTAMP '1970-01-01')`;
}
