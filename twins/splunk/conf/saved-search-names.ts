/** The names of the settings of a saved search, and where a row has them. */
import { savedSearchForms } from "./saved-search-forms.ts";

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
  return Object.hasOwn(savedSearchForms, name) || families.test(name);
}
