/** Fired alerts, grouped by saved search and one by one. */
import type { Entry } from "../output/entry.ts";
import { isoSecond } from "../output/timestamp.ts";
import { firedAlerts, isAlertOf } from "../saved/alerts.ts";
import type { FiredAlertRow } from "../world/alert-tables.ts";
import { ownedKey } from "../world/ownership.ts";
import type { Call, Viewer } from "./call.ts";
import { feedOf } from "./collection.ts";
import { checkArguments, feedResponse, pageArguments, pageOf } from "./entries.ts";
import { aclOf, addressOf, type Ownership } from "./ownership.ts";
import { handlerError } from "./rest-error.ts";
import { route } from "./route.ts";
import { visibleSearches } from "./saved-searches.ts";

const PATH = "/alerts/fired_alerts";
const TITLE = "fired_alerts";
/** Name of the group of all saved searches. */
const ALL = "-";

const sharedOwnership: Ownership = { owner: "nobody", app: "search", sharing: "app" };

function groupEntry({ twin }: Viewer, name: string, ownership: Ownership, count: number): Entry {
  return {
    name,
    path: addressOf(ownership, PATH, name),
    author: ownership.owner,
    updatedMs: twin.clock.now(),
    links: { list: "" },
    acl: { ...aclOf(ownership), removable: false },
    content: { triggered_alert_count: count },
  };
}

/** The alerts of the visible saved searches. */
function visibleAlerts(viewer: Viewer): FiredAlertRow[] {
  const rows = visibleSearches(viewer);
  return firedAlerts(viewer.twin).filter((alert) => rows.some((row) => isAlertOf(row, alert)));
}

function groupEntries(viewer: Viewer): Entry[] {
  const alerts = visibleAlerts(viewer);
  const groups = visibleSearches(viewer).flatMap((row) => {
    const count = alerts.filter((alert) => isAlertOf(row, alert)).length;
    return count === 0 ? [] : [groupEntry(viewer, row.name, row, count)];
  });
  return [groupEntry(viewer, ALL, sharedOwnership, alerts.length), ...groups];
}

function alertEntry(viewer: Viewer, row: FiredAlertRow): Entry {
  const { tables, timeZone } = viewer.twin;
  const saved =
    tables.table("saved_searches").get(ownedKey({ ...row, name: row.saved_search })) ?? sharedOwnership;
  const triggeredMs = Date.parse(row.triggered_at);
  return {
    name: row.name,
    path: addressOf(saved, PATH, row.name),
    author: saved.owner,
    updatedMs: triggeredMs,
    links: { list: "", remove: "" },
    acl: aclOf(saved),
    content: {
      actions: row.actions,
      alert_type: "historical",
      digest_mode: row.digest_mode,
      expiration_time_rendered: isoSecond(Date.parse(row.expires_at), timeZone),
      savedsearch_name: row.saved_search,
      severity: row.severity,
      sid: row.sid,
      trigger_time: Math.floor(triggeredMs / 1000),
      trigger_time_rendered: isoSecond(triggeredMs, timeZone),
      triggered_alerts: row.digest_mode ? row.results : 1,
    },
  };
}

function groupResponse(call: Call) {
  checkArguments(call, pageArguments);
  const { name = "" } = call.params;
  const known = name === ALL || visibleSearches(call).some((row) => row.name === name);
  if (!known) throw handlerError(404, `Could not find object id=${name}`);
  const alerts = visibleAlerts(call).filter((alert) => name === ALL || alert.saved_search === name);
  const page = pageOf(
    call,
    alerts.map((alert) => alertEntry(call, alert)),
    "given",
  );
  return feedResponse(call, { ...feedOf(call, TITLE, PATH, {}), ...page });
}

export const firedAlertOperations = [
  ...route({
    id: "fired_alert.list",
    method: "GET",
    path: PATH,
    summary: "List the saved searches that have fired alerts, and how many.",
    handle(call) {
      checkArguments(call, pageArguments);
      const page = pageOf(call, groupEntries(call));
      return feedResponse(call, { ...feedOf(call, TITLE, PATH, {}), ...page });
    },
  }),
  ...route({
    id: "fired_alert.get",
    method: "GET",
    path: `${PATH}/:name`,
    summary: "List the alerts that a saved search has fired.",
    handle: groupResponse,
  }),
  ...route({
    id: "fired_alert.delete",
    method: "DELETE",
    path: `${PATH}/:name`,
    summary: "Forget an alert.",
    handle(call) {
      const { name = "" } = call.params;
      if (!visibleAlerts(call).some((alert) => alert.name === name)) {
        throw handlerError(404, `Could not find object id=${name}`);
      }
      call.twin.tables.table("fired_alerts").remove(name);
      const page = pageOf(call, groupEntries(call));
      return feedResponse(call, { ...feedOf(call, TITLE, PATH, {}), ...page });
    },
  }),
];
