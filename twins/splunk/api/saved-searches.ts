/** Saved searches: list, create, change and remove them. */

import { actionDefaults } from "../conf/action-defaults.ts";
import { settingProblem } from "../conf/check-saved-search.ts";
import { savedSearchDefaults } from "../conf/saved-search-defaults.ts";
import { isSetting, settingColumns } from "../conf/saved-search-formats.ts";
import { sealSecret } from "../conf/secret-settings.ts";
import type { Entry } from "../output/entry.ts";
import { isoSecond } from "../output/timestamp.ts";
import { firedAlerts, isAlertOf } from "../saved/alerts.ts";
import { nextRunMs } from "../saved/due-times.ts";
import { settingsOf } from "../saved/settings.ts";
import { withImplicitSearch } from "../spl/syntax/text.ts";
import { ownedKey } from "../world/ownership.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { type Call, knowledgeOf, type Viewer } from "./call.ts";
import { type Collection, feedOf, singleResponse, toListEntry } from "./collection.ts";
import { checkArguments, feedResponse, pageArguments, pageOf } from "./entries.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { aclOf, addressOf, newOwnership, visibleRows } from "./ownership.ts";
import { handlerError, type RestError } from "./rest-error.ts";
import { checkCapability, checkWrite } from "./rights.ts";
import { route } from "./route.ts";

const PATH = "/saved/searches";
const TITLE = "savedsearch";
const links = { create: "_new", _reload: "_reload", _acl: "_acl" };
const MAX_CHARACTERS = 1_000_000;
/** Arguments of the response, not settings of the saved search. */
const responseArguments = ["name", "output_mode", "count", "offset", "listDefaultActionArgs"];

/** The saved searches that the namespace shows. */
export function visibleSearches(viewer: Viewer): SavedSearchRow[] {
  return visibleRows(viewer, viewer.twin.tables.table("saved_searches").all());
}

/** @throws RestError 404 */
export function findSavedSearch(call: Call): SavedSearchRow {
  const { name = "" } = call.params;
  const row = visibleSearches(call).find((one) => one.name === name);
  if (row === undefined) throw handlerError(404, `Could not find object id=${name}`);
  return row;
}

/** Finds a saved search that the caller may change. @throws RestError 404, 403 */
export function findWritable(call: Call): SavedSearchRow {
  const row = findSavedSearch(call);
  checkWrite(call, `savedsearches/${row.name}`, aclOf(row));
  return row;
}

export const savedPath = (row: SavedSearchRow): string => addressOf(row, PATH, row.name);

/** @param actionSettings shows all settings of alert actions, or only those that are set */
function entryOf(row: SavedSearchRow, viewer: Viewer, actionSettings: "all" | "given" = "given"): Entry {
  const { timeZone, clock } = viewer.twin;
  const next = nextRunMs(row, clock.now(), timeZone);
  const alerts = firedAlerts(viewer.twin, row).length;
  const actions = [
    "acknowledge",
    "dispatch",
    "embed",
    "history",
    "move",
    "notify",
    "reschedule",
    "scheduled_times",
    "suppress",
  ];
  return {
    name: row.name,
    path: savedPath(row),
    author: row.owner,
    updatedMs: Date.parse(row.updated_at),
    links: {
      list: "",
      _reload: "_reload",
      edit: "",
      remove: "",
      [row.disabled ? "enable" : "disable"]: row.disabled ? "enable" : "disable",
      ...Object.fromEntries(actions.map((action) => [action, action])),
    },
    acl: aclOf(row),
    fields: {
      optional: [
        ...Object.keys(settingColumns).filter((name) => name !== "search"),
        "alert_type",
        "dispatch.buckets",
      ],
      required: ["search"],
      wildcard: ["action\\..*", "args\\..*", "dispatch\\..*", "display\\..*"],
    },
    content: {
      ...settingsOf(
        row,
        actionSettings === "all" ? { ...actionDefaults, ...savedSearchDefaults } : savedSearchDefaults,
      ),
      ...(alerts > 0 && { triggered_alert_count: alerts }),
      next_scheduled_time:
        next === undefined
          ? ""
          : isoSecond(next, timeZone)
              .replace("T", " ")
              .replace(/\+00:00$/, " UTC"),
      // The vendor leaves out what precedes the first command.
      qualifiedSearch: withImplicitSearch(row.search).replace(/^\s*\|/, ""),
    },
  };
}

export const savedSearchCollection: Collection = {
  title: TITLE,
  path: PATH,
  entries: (viewer) => visibleSearches(viewer).map((row) => entryOf(row, viewer)),
};

export function savedResponse(call: Call, row: SavedSearchRow, status = 200) {
  return singleResponse(call, entryOf(row, call, actionSettingsOf(call)), TITLE, PATH, links, status);
}

/** Whether the owner's account was removed, so that the search cannot run on schedule. */
const isOrphan = ({ owner }: SavedSearchRow, { twin }: Viewer) =>
  owner !== "nobody" && twin.tables.table("users").get(owner) === undefined;

const actionSettingsOf = (call: Call) =>
  call.arguments.flag("listDefaultActionArgs", false) ? "all" : "given";

/** Checks the values of settings in a request. @throws RestError 400 */
export function checkSettingValues(call: Call, others: Readonly<Record<string, string>> = {}): void {
  const given = call.arguments;
  const values = Object.fromEntries(given.names().map((name) => [name, given.get(name) ?? ""]));
  const problem = settingProblem(values, knowledgeOf(call), others);
  if (problem !== undefined) throw handlerError(400, problem);
}

/** The columns that a request changes. @throws RestError 400 */
function changesOf(call: Call, row: { search: string; settings: Record<string, string> }) {
  const given = call.arguments;
  const settings = { ...row.settings };
  const names = given.names().filter((name) => !responseArguments.includes(name));
  const unknown = names.find((name) => !isSetting(name));
  if (unknown !== undefined)
    throw handlerError(400, `Argument "${unknown}" is not supported by this handler.`);
  checkSettingValues(call, row.settings);
  for (const name of names) {
    if (!Object.hasOwn(settingColumns, name)) settings[name] = sealSecret(name, given.get(name) ?? "");
  }
  const search = given.get("search") ?? row.search;
  if (search.trim() === "") throw handlerError(400, "Search string cannot be empty.");
  if (search.length > MAX_CHARACTERS) throw handlerError(400, "Search string is too long.");
  if (given.flag("is_scheduled", false)) checkCapability(call, "schedule_search");
  const text = (name: string) => given.get(name);
  return {
    search,
    settings,
    ...omitUndefined({
      description: text("description"),
      disabled: given.optionalFlag("disabled"),
      is_scheduled: given.optionalFlag("is_scheduled"),
      cron_schedule: text("cron_schedule"),
      earliest_time: text("dispatch.earliest_time"),
      latest_time: text("dispatch.latest_time"),
    }),
    updated_at: new Date(call.twin.clock.now()).toISOString(),
  };
}

export const savedSearchOperations = [
  ...route({
    id: "saved_search.list",
    method: "GET",
    path: PATH,
    summary: "List the saved searches.",
    handle(call) {
      checkArguments(call, [
        ...pageArguments,
        ...["earliest_time", "latest_time", "listDefaultActionArgs", "add_orphan_field"],
      ]);
      const showsOrphans = call.arguments.flag("add_orphan_field", false);
      const entries = visibleSearches(call).map((row): Entry => {
        const entry = toListEntry(entryOf(row, call, actionSettingsOf(call)));
        if (!showsOrphans) return entry;
        return { ...entry, content: { ...entry.content, orphan: isOrphan(row, call) } };
      });
      return feedResponse(call, { ...feedOf(call, TITLE, PATH, links), ...pageOf(call, entries) });
    },
  }),
  ...route({
    id: "saved_search.create",
    method: "POST",
    path: PATH,
    capability: "edit_own_objects",
    summary: "Save a search under a name.",
    handle(call) {
      const name = call.arguments.text("name");
      if (name === undefined) {
        throw handlerError(400, 'Cannot perform action "POST" without a target name to act on.');
      }
      const search = call.arguments.text("search");
      if (search === undefined) throw handlerError(400, "Search string cannot be empty.");
      const table = call.twin.tables.table("saved_searches");
      const ownership = newOwnership(call, `savedsearches/${name}`);
      if (table.get(ownedKey({ name, ...ownership }))) {
        const text = `Unable to create saved search with name '${name}'. A saved search with that name already exists.`;
        throw handlerError(409, text);
      }
      const changes = changesOf(call, { search, settings: {} });
      const row = table.insert({ name, ...ownership, ...changes });
      return savedResponse(call, row, 201);
    },
  }),
  ...route({
    id: "saved_search.delete",
    method: "DELETE",
    path: PATH,
    summary: "Refuse to remove a saved search that is not named.",
    handle() {
      throw handlerError(400, 'Cannot perform action "DELETE" without a target name to act on.');
    },
  }),
  ...route({
    id: "saved_search.get",
    method: "GET",
    path: `${PATH}/:name`,
    summary: "Show a saved search.",
    handle: (call) => savedResponse(call, findSavedSearch(call)),
  }),
  ...route({
    id: "saved_search.update",
    method: "POST",
    path: `${PATH}/:name`,
    summary: "Change a saved search.",
    handle(call) {
      const row = findWritable(call);
      const changes = changesOf(call, row);
      const table = call.twin.tables.table("saved_searches");
      return savedResponse(call, table.update(ownedKey(row), changes) ?? row);
    },
  }),
  ...route({
    id: "saved_search.delete",
    method: "DELETE",
    path: `${PATH}/:name`,
    summary: "Remove a saved search.",
    handle(call) {
      const row = findWritable(call);
      const { tables } = call.twin;
      tables.table("saved_searches").remove(ownedKey(row));
      for (const alert of tables.table("fired_alerts").all()) {
        if (isAlertOf(row, alert)) tables.table("fired_alerts").remove(alert.name);
      }
      const paging = { total: visibleSearches(call).length, perPage: 30, offset: 0 };
      return feedResponse(call, { ...feedOf(call, TITLE, PATH, links), entries: [], paging });
    },
  }),
  ...(["enable", "disable"] as const).flatMap((action) =>
    route({
      id: `saved_search.${action}`,
      method: "POST",
      path: `${PATH}/:name/${action}`,
      summary: action === "enable" ? "Let a saved search be run." : "Keep a saved search from being run.",
      handle(call) {
        const row = findWritable(call);
        const table = call.twin.tables.table("saved_searches");
        return savedResponse(call, table.update(ownedKey(row), { disabled: action === "disable" }) ?? row);
      },
    }),
  ),
];

/** The error for running a disabled saved search. */
export function disabledSearchError(name: string): RestError {
  return handlerError(400, `Search not executed: the saved search '${name}' is disabled.`);
}
