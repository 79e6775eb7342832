/** Which events the members of roles may find. Merges several roles like the vendor's `authorize.conf.spec`. */
import { splitList } from "@offhook/platform/base/split-list";
import type { EventAccess } from "../spl/context/event-access.ts";
import { SplError } from "../spl/spl-error.ts";
import { parseSearchExpression } from "../spl/syntax/parse-text.ts";
import { afterQuotes } from "../spl/syntax/text.ts";

/** The search settings of one role. */
export interface RoleSearch extends Omit<EventAccess, "windowS" | "earliestS"> {
  /** Whether its filter adds events to those of other roles, instead of limiting them. */
  readonly selecting: boolean;
  /** Seconds; 0: unlimited, whatever other roles say; -1: not set. */
  readonly windowS: number;
  readonly earliestS: number;
}

/** The least restrictive limit. */
export function broadestLimit(limits: readonly number[]): number | undefined {
  if (limits.includes(0)) return undefined;
  const max = Math.max(-1, ...limits);
  return max === -1 ? undefined : max;
}

/** Combines filters: an event meets any of the adding ones and all of the limiting ones. */
export function combineFilters(roles: readonly Pick<RoleSearch, "filter" | "selecting">[]): string {
  const filters = roles.map(({ filter, selecting }) => ({ texts: splitFilters(filter), selecting }));
  const adding = filters.flatMap(({ texts, selecting }) => (selecting ? texts : []));
  const limiting = filters.flatMap(({ texts, selecting }) => (selecting ? [] : texts));
  const isOpen = adding.length === 0 || adding.includes("*");
  const all = [
    ...(isOpen ? [] : [adding.map((text) => `(${text})`).join(" OR ")]),
    ...limiting.filter((text) => text !== "*"),
  ];
  return all.map((text) => `(${text})`).join(" ");
}

/** Splits a list at semicolons outside quotes. */
function splitFilters(text: string): string[] {
  return [...splitList(text, ";", afterQuotes)].flatMap((part) => part.trim() || []);
}

/** Finds the problem of a filter; `undefined`: none. */
export function filterProblem(text: string): string | undefined {
  try {
    for (const part of splitFilters(text)) parseSearchExpression(part);
    return undefined;
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
}

const unrestricted: EventAccess = {
  allowed: ["*", "_*"],
  disallowed: [],
  defaults: [],
  filter: "",
  windowS: undefined,
  earliestS: undefined,
};

/** The search rights of the system. @param index default index of events */
export function systemSearchRights(index: string): EventAccess {
  return { ...unrestricted, defaults: [index] };
}
