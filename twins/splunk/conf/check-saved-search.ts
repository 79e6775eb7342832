/** Whether what a saved search is given is what its settings take. */

import type { Knowledge } from "../spl/context/knowledge.ts";
import { parseSearch } from "../spl/parse-search.ts";
import { SplError } from "../spl/spl-error.ts";
import { findInvalid } from "./forms.ts";
import { savedSearchForms } from "./saved-search-forms.ts";

type Settings = Readonly<Record<string, string>>;

/**
 * What is wrong with settings that are given, in splunkd's words; `undefined`: nothing.
 * @param others what else the saved search has
 */
export function settingProblem(
  given: Settings,
  knowledge: Pick<Knowledge, "macro">,
  others: Settings = {},
): string | undefined {
  const wrong = findInvalid(savedSearchForms, given, { ...others, ...given });
  if (wrong?.name === "cron_schedule") return `Invalid cron_schedule="${wrong.value}".`;
  if (wrong !== undefined) return `Invalid value "${wrong.value}" for argument "${wrong.name}".`;
  return conditionProblem(given.alert_condition, knowledge);
}

/** The condition is a search over the results. */
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

/** As for a row of the world, where macros may be written after what uses them. */
export function rowProblem(settings: Settings): string | undefined {
  const wrong = findInvalid(savedSearchForms, settings);
  if (wrong !== undefined) return `${wrong.name} must be ${wrong.form.what}`;
  const { alert_condition = "" } = settings;
  if (alert_condition.includes("`")) return undefined;
  return conditionProblem(alert_condition, { macro: () => undefined });
}
