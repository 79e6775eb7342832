/** The settings of a saved search: what each is when nobody says otherwise, and where the row has it. */

import { typedSettings } from "../conf/typed.ts";
import type { Content } from "../output/entry.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { savedSearchDefaults } from "./defaults.ts";

/** Settings that have columns of their own. */
export const columnsOf = {
  search: "search",
  description: "description",
  disabled: "disabled",
  is_scheduled: "is_scheduled",
  cron_schedule: "cron_schedule",
  "dispatch.earliest_time": "earliest_time",
  "dispatch.latest_time": "latest_time",
} as const;

const families =
  /^(action|alert|args|auto_summarize|dispatch|display|durable|embed|federated|request|summary_index|triggeredalerts)(\.|$)/;

export function isSetting(name: string): boolean {
  return Object.hasOwn(columnsOf, name) || Object.hasOwn(savedSearchDefaults, name) || families.test(name);
}

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
