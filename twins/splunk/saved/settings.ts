/** The settings of a saved search, each as it is when nobody says otherwise, or as the row has it. */

import { savedSearchDefaults } from "../conf/saved-search-defaults.ts";
import { castSettings, type SettingValue } from "../conf/typed.ts";
import type { SavedSearchRow } from "../world/tables.ts";

/**
 * All settings of a saved search, as an entry shows them.
 * @param usual what is shown beside its own: the settings of actions too, for who asks for them
 */
export function settingsOf(
  row: SavedSearchRow,
  usual: Readonly<Record<string, SettingValue>> = savedSearchDefaults,
): Record<string, SettingValue> {
  return {
    ...castSettings(usual, row.settings),
    cron_schedule: row.cron_schedule,
    description: row.description,
    disabled: row.disabled,
    "dispatch.earliest_time": row.earliest_time,
    "dispatch.latest_time": row.latest_time,
    is_scheduled: row.is_scheduled,
    search: row.search,
  };
}
