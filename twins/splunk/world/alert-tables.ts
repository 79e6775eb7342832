/** The tables of fired alerts, scheduled runs and alert actions. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";

const firedAlerts = defineTable({
  description: "Alerts that runs of saved searches have fired, until they expire.",
  key: "name",
  limit: { rows: 10_000, mayEvict: () => true },
  columns: {
    name: { type: z.string().min(1), description: "The name." },
    saved_search: { type: z.string().min(1), description: "The saved search that was run." },
    owner: { type: z.string().default("nobody"), description: "Owner of the saved search." },
    app: { type: z.string().default("search"), description: "The app of the saved search." },
    sid: { type: z.string().min(1), description: "The job that ran it." },
    triggered_at: { type: z.iso.datetime(), description: "When it was fired." },
    expires_at: { type: z.iso.datetime(), description: "When it stops being listed." },
    severity: {
      type: z.number().int().min(1).max(6).default(3),
      description: "From 1, for information, to 6, fatal.",
    },
    digest_mode: { type: z.boolean().default(true), description: "Whether it is for all results together." },
    actions: {
      type: z.string().default(""),
      description: "Its actions; alert_actions has the outcome of each.",
    },
    results: { type: z.number().int().min(0).default(0), description: "How many results there were." },
  },
});

const scheduledRuns = defineTable({
  description: "Runs of the scheduler: a row for each time at which a saved search was due.",
  key: "name",
  limit: { rows: 10_000, mayEvict: ({ status }) => status !== "running" },
  columns: {
    name: { type: z.string().min(1), description: "The sid of the job, also of a skipped one." },
    saved_search: { type: z.string().min(1), description: "The saved search." },
    owner: { type: z.string(), description: "The account it ran as." },
    app: { type: z.string(), description: "The app it ran in." },
    scheduled_at: { type: z.iso.datetime(), description: "When it was due: the now of its search." },
    dispatched_at: { type: z.iso.datetime(), description: "When the scheduler started or skipped it." },
    status: {
      type: z.enum(["running", "success", "failed", "skipped"]),
      description: "Outcome of the run.",
    },
    reason: { type: z.string().default(""), description: "Why it failed, or was skipped." },
    result_count: { type: z.number().int().min(0).default(0), description: "How many results there were." },
    triggered: { type: z.boolean().default(false), description: "Whether its alert condition was met." },
    suppressed: { type: z.boolean().default(false), description: "Whether its alerts were suppressed." },
  },
});

const alertActions = defineTable({
  description: "Outcomes of alert actions.",
  key: "name",
  limit: { rows: 10_000, mayEvict: () => true },
  columns: {
    name: { type: z.string().min(1), description: "The name." },
    saved_search: { type: z.string().min(1), description: "The saved search whose alert it was." },
    sid: { type: z.string().min(1), description: "The job that ran it." },
    action: { type: z.string().min(1), description: "The action: webhook, email." },
    status: {
      type: z.enum(["done", "failed", "not_carried_out"]),
      description: "Whether it was carried out.",
    },
    detail: { type: z.string(), description: "What happened, in words." },
    at: { type: z.iso.datetime(), description: "When the action ran." },
  },
});

export const alertTables = {
  fired_alerts: firedAlerts,
  scheduled_runs: scheduledRuns,
  alert_actions: alertActions,
};

export type ScheduledRunRow = Readonly<RowOf<typeof scheduledRuns.columns>>;
export type AlertActionRow = Readonly<RowOf<typeof alertActions.columns>>;
export type FiredAlertRow = Readonly<RowOf<typeof firedAlerts.columns>>;
