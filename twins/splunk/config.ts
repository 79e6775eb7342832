/** The `config` of the service `splunk` in `environment.yaml`. */
import { z } from "zod";

export const logQueryConfig = z
  .strictObject({
    /** Index of the dataset's rows that do not name one. */
    index: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,79}$/,
        "must be the name of an index: lower-case letters, digits, _ and -",
      )
      .default("main"),
    /** Time zone of searches and responses. */
    time_zone: z
      .string()
      .refine(isTimeZone, "must be the name of a time zone, such as Europe/Berlin")
      .default("UTC"),
    /** Hosts beside this machine that alert webhooks may be posted to, with `*` for any text. */
    webhook_hosts: z.array(z.string().min(1).max(253)).max(100).default([]),
  })
  .prefault({});

export type LogQueryConfig = z.output<typeof logQueryConfig>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
