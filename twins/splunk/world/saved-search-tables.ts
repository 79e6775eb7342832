/** The table of saved searches. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { rowProblem } from "../conf/check-saved-search.ts";
import { isSetting, savedSearchFormats } from "../conf/saved-search-formats.ts";
import { appColumn, ownedWithin, ownerColumn } from "./ownership.ts";

/** Settings with names and formats of `savedsearches.conf`. */
const settings = z.record(z.string(), z.string()).superRefine((given, context) => {
  const unknown = Object.keys(given).find((name) => !isSetting(name));
  if (unknown !== undefined) context.addIssue(`${unknown} is no setting of a saved search`);
  const problem = rowProblem(given);
  if (problem !== undefined) context.addIssue(problem);
});

/** A column for a setting, with its format. An empty value stands for the default. */
const settingColumn = (name: string, alsoAccepts = (_value: string) => false) => {
  const format = savedSearchFormats[name];
  return z.string().superRefine((value, context) => {
    const given = value.trim();
    if (given === "" || format === undefined || format.accepts(given, {}) || alsoAccepts(given)) return;
    context.addIssue(`must be ${format.description}`);
  });
};
const schedule = settingColumn("cron_schedule");
// The time format of the saved search is unknown here, so any value with a digit is accepted.
const moment = settingColumn("dispatch.earliest_time", (value) => /\d/.test(value));

const savedSearches = defineTable({
  description: "Saved searches: reports and alerts.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: { type: z.string().min(1).max(2048), description: "The name." },
    search: { type: z.string().min(1), description: "The search, in the search processing language." },
    description: { type: z.string().default(""), description: "What it is for." },
    earliest_time: { type: moment.default(""), description: "Start of its time range; open when empty." },
    latest_time: { type: moment.default(""), description: "End of its time range; open when empty." },
    disabled: { type: z.boolean().default(false), description: "Whether it may not be run." },
    is_scheduled: { type: z.boolean().default(false), description: "Whether it has a schedule." },
    cron_schedule: { type: schedule.default(""), description: "Its schedule, as cron writes it." },
    owner: ownerColumn,
    app: appColumn,
    sharing: { type: z.enum(["user", "app", "global"]).default("app"), description: "Who sees it." },
    updated_at: {
      type: z.iso.datetime().default("1970-01-01T00:00:00.000Z"),
      description: "When it last changed.",
    },
    settings: { type: settings.default({}), description: "Its other settings, by the vendor's names." },
    rescheduled_to: {
      type: z.iso.datetime().nullable().default(null),
      description: "When it runs next, if not by its schedule.",
    },
    suppressed_until: {
      type: z.record(z.string(), z.iso.datetime()).default({}),
      description:
        "End of the suppression of its alerts: of all under an empty key, or by the values of fields.",
    },
  },
});

export const savedSearchTables = { saved_searches: savedSearches };

export type SavedSearchRow = Readonly<RowOf<typeof savedSearches.columns>>;
