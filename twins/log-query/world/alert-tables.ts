/** The table of alerts that have been fired. */
import { z } from "zod";
import { defineTable, type RowOf } from "../../sandbox/table.ts";

const firedAlerts = defineTable({
  description: "Alerts that runs of saved searches have fired, until they expire.",
  key: "name",
  limit: { rows: 10_000, mayLetGo: () => true },
  columns: {
    name: { type: z.string().min(1), description: "What it is found by." },
    saved_search: { type: z.string().min(1), description: "The saved search that was run." },
    sid: { type: z.string().min(1), description: "The job that ran it." },
    triggered_at: { type: z.iso.datetime(), description: "When it was fired." },
    expires_at: { type: z.iso.datetime(), description: "Until when it is listed." },
    severity: {
      type: z.number().int().min(1).max(6).default(3),
      description: "From 1, for information, to 6, fatal.",
    },
    digest_mode: { type: z.boolean().default(true), description: "Whether it is for all results together." },
    actions: { type: z.string().default(""), description: "The actions it stands for; none is carried out." },
    results: { type: z.number().int().min(0).default(0), description: "How many results there were." },
  },
});

export const alertTables = { fired_alerts: firedAlerts };

export type FiredAlertRow = Readonly<RowOf<typeof firedAlerts.columns>>;
