/** Settings of saved searches, with their defaults. */

import { savedSearchDefaults } from "../conf/saved-search-defaults.ts";
import { castSettings, type SettingValue } from "../conf/values.ts";
import type { SavedSearchRow } from "../world/tables.ts";

/**
 * All settings of a saved search, as an entry shows them.
 * @param defaults also those of alert actions, for a request with `listDefaultActionArgs`
 */
export function settingsOf(
  row: SavedSearchRow,
  defaults: Readonly<Record<string, SettingValue>> = savedSearchDefaults,
): Record<string, SettingValue> {
  return {
    ...castSettings(defaults, row.settings),
    cron_schedule: row.cron_schedule,
    description: row.description,
    disabled: row.disabled,
    "dispatch.earliest_time": row.earliest_time,
    "dispatch.latest_time": row.latest_time,
    is_scheduled: row.is_scheduled,
    search: row.search,
  };
}
