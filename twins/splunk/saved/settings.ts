/** The settings of a saved search, each as it is when nobody says otherwise, or as the row has it. */

import { typedSettings } from "../conf/typed.ts";
import type { Content } from "../output/entry.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { savedSearchDefaults } from "./defaults.ts";

/**
 * All settings of a saved search, as an entry shows them.
 * @param usual what is shown beside its own: the settings of actions too, for who asks for them
 */
export function settingsOf(
  row: SavedSearchRow,
  usual: Readonly<Record<string, Content>> = savedSearchDefaults,
): Record<string, Content> {
  return {
    ...typedSettings(usual, row.settings),
    cron_schedule: row.cron_schedule,
    description: row.description,
    disabled: row.disabled,
    "dispatch.earliest_time": row.earliest_time,
    "dispatch.latest_time": row.latest_time,
    is_scheduled: row.is_scheduled,
    search: row.search,
  };
}
