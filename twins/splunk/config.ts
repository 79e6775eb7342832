/** The `config` of the service `splunk` in `environment.yaml`. */
import { z } from "zod";

export const logQueryConfig = z
  .strictObject({
    /** The index that a dataset's rows are in, unless they name one themselves. */
    index: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,79}$/,
        "must be the name of an index: lower-case letters, digits, _ and -",
      )
      .default("main"),
    /** What days and hours are, in searches and in answers. */
    time_zone: z
      .string()
      .refine(isTimeZone, "must be the name of a time zone, such as Europe/Berlin")
      .default("UTC"),
    /** Hosts that webhooks of alerts may be posted to, with `*` for any text; this machine always is one. */
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
