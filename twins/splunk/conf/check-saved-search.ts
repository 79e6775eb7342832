/** Checks the settings of saved searches. */

import type { Knowledge } from "../spl/context/knowledge.ts";
import { parseSearch } from "../spl/parse-search.ts";
import { SplError } from "../spl/spl-error.ts";
import { findInvalid } from "./formats.ts";
import { savedSearchFormats } from "./saved-search-formats.ts";

type Settings = Readonly<Record<string, string>>;

/**
 * Finds the problem of settings in a request, in splunkd's words; `undefined`: none.
 * @param others the other settings of the saved search
 */
export function settingProblem(
  given: Settings,
  knowledge: Pick<Knowledge, "macro">,
  others: Settings = {},
): string | undefined {
  const wrong = findInvalid(savedSearchFormats, given, { ...others, ...given });
  if (wrong?.name === "cron_schedule") return `Invalid cron_schedule="${wrong.value}".`;
  if (wrong !== undefined) return `Invalid value "${wrong.value}" for argument "${wrong.name}".`;
  return conditionProblem(given.alert_condition, knowledge);
}

/** Checks that an alert condition parses as a search over the results. */
function conditionProblem(condition = "", knowledge: Pick<Knowledge, "macro">): string | undefined {
  if (condition.trim() === "") return undefined;
  try {
    parseSearch(condition, knowledge);
    return undefined;
  } catch (error) {
    if (error instanceof SplError) return `Cannot parse alert condition. ${error.message}`;
    throw error;
  }
}

/** Finds the problem of the settings in a row. A row may use macros that are written later. */
export function rowProblem(settings: Settings): string | undefined {
  const wrong = findInvalid(savedSearchFormats, settings);
  if (wrong !== undefined) return `${wrong.name} must be ${wrong.format.description}`;
  const { alert_condition = "" } = settings;
  if (alert_condition.includes("`")) return undefined;
  return conditionProblem(alert_condition, { macro: () => undefined });
}
